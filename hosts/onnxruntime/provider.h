// Provider: Latebind in one session of the host.
//
// Created and used by the thread that creates the session; its nodes run on any number of threads. The host destroys it
// after its nodes.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/onnx/known_errors.h"
#include "hosts/onnxruntime/bundle_file.h"
#include "hosts/onnxruntime/capability.h"
#include "hosts/onnxruntime/context_file.h"
#include "hosts/onnxruntime/given_initializers.h"
#include "hosts/onnxruntime/loaded_part.h"
#include "hosts/onnxruntime/session_settings.h"

namespace latebind::provider {

// The hardware of a session.
struct SessionDevice {
  bool is_here = false;                  // whether some of it is in this machine
  std::int32_t kind = LB_DEVICE_CPU;     // of the best device in this machine
  std::vector<std::string> virtual_ids;  // "openvino:NPU.4000"
};

class Provider final : public abi::Ep {
 public:
  // `shared` is the registration's runtime, for sessions whose options do not require a separate one.
  Provider(const Host& host, const abi::Logger* logger, const abi::SessionOptions* options, SessionDevice device,
           std::shared_ptr<const Runtime> shared);
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  ~Provider() = default;

  void get_capability(const abi::Graph* graph, abi::GraphSupportInfo* support);
  void compile(const abi::Graph* graph, const abi::Node* fused, abi::NodeComputeInfo** info, abi::Node** context);
  // Called after compile(), for everything compiled since the last call; says whether the host accepts it.
  void end_compile(bool is_taken) noexcept;
  // "" if the host's model already has a text, because it was compiled before.
  [[nodiscard]] const char* compatibility() const { return compatibility_.c_str(); }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const abi::Logger* logger() const { return logger_; }
  // Sets and clears the time limit of the run on this thread, in milliseconds; 0: none.
  void begin_run(const abi::RunOptions* options) const;
  static void end_run();

 private:
  [[nodiscard]] std::string placement() const;
  void choose_targets();
  // Checks, once after a refusal, whether the session's options prevent all devices from loading anything.
  void check_options();
  [[nodiscard]] std::string try_part(const GraphView& graph, const std::vector<std::size_t>& nodes);
  // Compiled models are in provider_contexts.cpp.
  [[nodiscard]] std::shared_ptr<LoadedPart> load_context(const NodeView& node, const abi::Graph* graph) const;
  // Returns the part that runs here, if there is one.
  [[nodiscard]] std::shared_ptr<LoadedPart> write_context(const abi::Graph* graph, const char* name,
                                                          const OnnxPart& whole, abi::Node** context);
  // Passes on a part that is compiled already, with its bundle in the node or beside the model, as this session
  // requires.
  void pass_context_on(const NodeView& node, const abi::Graph* graph, const char* name, abi::Node** context);
  // Moves the bundle to a file beside the model that is written, and names the file in the node.
  BundleFile place(const std::filesystem::path& model, const std::filesystem::path& draft, ContextNode& node);
  // The possible places of the model beside which a bundle is, and the model that the host writes.
  [[nodiscard]] std::vector<std::filesystem::path> models(const abi::Graph* graph) const;
  [[nodiscard]] std::filesystem::path written_model(const abi::Graph* graph) const;

  const Host& host_;
  const abi::Logger* logger_;
  const SessionSettings settings_;
  GivenInitializers given_;
  const SessionDevice device_;
  const std::shared_ptr<const Runtime> runtime_;
  const Devices found_;  // when the session was created
  const onnx::KnownErrors errors_;
  const std::shared_ptr<HostFallback> fallback_;  // null: ONNX Runtime is among the devices
  Options options_;                               // for loads: the session's options and the placement
  std::vector<std::string> targets_;              // for compiled models
  bool options_checked_ = false;
  std::optional<Failure> wrong_options_;  // the error of compile()
  std::string compatibility_;
  // The parts that were loaded while capabilities were determined, by GraphView::key().
  std::map<std::string, std::shared_ptr<LoadedPart>> loaded_;
  std::vector<BundleFile> placed_;  // since the last end_compile()
};

}  // namespace latebind::provider
