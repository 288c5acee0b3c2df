// LoadedPart: one fused node's model, loaded by Latebind, and how its inputs and outputs are those of the node.
//
// run() may be called from any number of threads at once; everything else is for the thread that makes the session.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/onnxruntime/graph.h"
#include "hosts/onnxruntime/host_fallback.h"

namespace latebind::provider {

class LoadedPart {
 public:
  // Throws Failure when no device takes it. `name` is for messages and attestations.
  LoadedPart(const Runtime& runtime, std::string name, OnnxPart part, const Options& options);
  LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const OnnxPart>& part,
             const Options& options);
  // A compiled model: the bytes of a bundle, which `owner` keeps, or a file with one.
  LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const void>& owner,
             std::string_view bundle, const Options& options);
  LoadedPart(const Runtime& runtime, std::string name, const std::filesystem::path& file, const Options& options);
  LoadedPart(const LoadedPart&) = delete;
  LoadedPart& operator=(const LoadedPart&) = delete;
  ~LoadedPart();

  // The names of the model's inputs and outputs in its own order, where there are as many: a vendor may report another
  // of several names that a tensor has.
  void name_ports(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  // Says in which order the node has the tensors. Throws Failure when the node lacks one. From then on the part is in
  // attestations_as_json().
  void bind(const std::vector<ValueView>& inputs, const std::vector<ValueView>& outputs);

  // Who computes what no device of this part computes as ONNX defines it. Without it such a run fails.
  void fall_back_to(std::shared_ptr<HostFallback> fallback) { fallback_ = std::move(fallback); }

  // `timeout_ms` 0: none. Outputs of known shape are written to the host's memory.
  void run(const Host& host, abi::KernelContext* context, std::uint64_t timeout_ms);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Attestation attestation() const;

 private:
  // What one run uses; kept, so that the next one allocates nothing.
  struct Buffers {
    std::vector<lb_tensor> inputs;
    std::vector<Output> outputs;
    std::vector<lb_output*> handles;
  };
  void begin(const Runtime& runtime, const Options& options, lb_model_memory memory);
  void begin(lb_model* model);
  [[nodiscard]] std::unique_ptr<Buffers> take_buffers();
  [[nodiscard]] LoadedPart& on_host();

  const std::string name_;
  detail::Handle<lb_model, lb_model_destroy> model_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<std::size_t> input_places_;   // of the model's inputs among the node's
  std::vector<std::size_t> output_places_;  // of the model's outputs among the node's
  std::vector<ValueView> node_inputs_;      // by name alone
  std::vector<ValueView> node_outputs_;
  std::shared_ptr<HostFallback> fallback_;
  std::function<std::unique_ptr<LoadedPart>(const Runtime&, const Options&)>
      again_;  // the same model, loaded once more
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffers>> free_;  // guarded by mutex_
  std::atomic<bool> told_{false};               // that the host's CPU computes a run
  std::mutex host_mutex_;
  std::unique_ptr<LoadedPart> on_host_;  // made under host_mutex_, and constant from then on
};

// Every part that is loaded in this process now, as JSON: what answers, why, and what was refused.
[[nodiscard]] std::string attestations_as_json();

}  // namespace latebind::provider
