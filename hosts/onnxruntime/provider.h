// Provider: Latebind in one session of the host.
//
// Made and used by the thread that makes the session; its nodes run on any number of threads. The host destroys it
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
  bool is_here = false;                  // some of it is in this machine
  std::int32_t kind = LB_DEVICE_CPU;     // of the best that is
  std::vector<std::string> virtual_ids;  // "openvino:NPU.4000"
};

class Provider final : public abi::Ep {
 public:
  // `shared`: the registration's own runtime, which serves sessions whose options leave it as it is.
  Provider(const Host& host, const abi::Logger* logger, const abi::SessionOptions* options, SessionDevice device,
           std::shared_ptr<const Runtime> shared);
  Provider(const Provider&) = delete;
  Provider& operator=(const Provider&) = delete;
  ~Provider() = default;

  void get_capability(const abi::Graph* graph, abi::GraphSupportInfo* support);
  void compile(const abi::Graph* graph, const abi::Node* fused, abi::NodeComputeInfo** info, abi::Node** context);
  // After compile(), for all that was compiled since: whether the host takes it.
  void end_compile(bool is_taken) noexcept;
  // "": what the host's model says already, for one that was compiled before.
  [[nodiscard]] const char* compatibility() const { return compatibility_.c_str(); }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const abi::Logger* logger() const { return logger_; }
  // The time of the run that is on this thread, in milliseconds; 0: none.
  void begin_run(const abi::RunOptions* options) const;
  static void end_run();

 private:
  [[nodiscard]] std::string placement() const;
  void choose_targets();
  // Once, after something was refused: whether the session's options are such that no device loads anything.
  void look_at_options();
  [[nodiscard]] std::string try_part(const GraphView& graph, const std::vector<std::size_t>& nodes);
  // Compiled models, in provider_contexts.cpp.
  [[nodiscard]] std::shared_ptr<LoadedPart> load_context(const NodeView& node, const abi::Graph* graph) const;
  // What runs here, if anything does.
  [[nodiscard]] std::shared_ptr<LoadedPart> write_context(const abi::Graph* graph, const char* name,
                                                          const OnnxPart& whole, abi::Node** context);
  // One that is compiled already, with its bundle in the node or beside the model as this session wants it.
  void pass_context_on(const NodeView& node, const abi::Graph* graph, const char* name, abi::Node** context);
  // The bundle in a file of its own beside the model that is written, which the node then names.
  BundleFile place(const std::filesystem::path& model, const std::filesystem::path& draft, ContextNode& node);
  // Where the model may be that a bundle lies beside, and the one that the host writes.
  [[nodiscard]] std::vector<std::filesystem::path> models(const abi::Graph* graph) const;
  [[nodiscard]] std::filesystem::path written_model(const abi::Graph* graph) const;

  const Host& host_;
  const abi::Logger* logger_;
  const SessionSettings settings_;
  GivenInitializers given_;
  const SessionDevice device_;
  const std::shared_ptr<const Runtime> runtime_;
  const Devices found_;  // when the session was made
  const onnx::KnownErrors errors_;
  const std::shared_ptr<HostFallback> fallback_;  // null: ONNX Runtime is among the devices
  Options options_;                               // of loads: the session's, and the placement
  std::vector<std::string> targets_;              // when compiled models are written
  bool options_looked_at_ = false;
  std::optional<Failure> wrong_options_;  // what compile() fails with
  std::string compatibility_;
  // What was loaded while capabilities were found, by GraphView::key().
  std::map<std::string, std::shared_ptr<LoadedPart>> loaded_;
  std::vector<BundleFile> placed_;  // since the last end_compile()
};

}  // namespace latebind::provider
