// LoadedPart: the model of one fused node, loaded by Latebind, and the mapping between the node's tensors and the
// model's.
//
// run() may be called from any number of threads at once; all other functions are for the thread that creates the
// session.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/threads/mutex.h"
#include "hosts/onnxruntime/graph.h"
#include "hosts/onnxruntime/host_fallback.h"

namespace latebind::provider {

class LoadedPart {
 public:
  // Throws Failure if no device takes the model. `name` appears in messages and attestations.
  LoadedPart(const Runtime& runtime, std::string name, OnnxPart part, const Options& options);
  LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const OnnxPart>& part,
             const Options& options);
  // A compiled model: the bytes of a bundle, which `owner` keeps alive, or a file with one.
  LoadedPart(const Runtime& runtime, std::string name, const std::shared_ptr<const void>& owner,
             std::string_view bundle, const Options& options);
  LoadedPart(const Runtime& runtime, std::string name, const std::filesystem::path& file, const Options& options);
  LoadedPart(const LoadedPart&) = delete;
  LoadedPart& operator=(const LoadedPart&) = delete;
  ~LoadedPart();

  // Names the model's inputs and outputs in its order, if the numbers match: a vendor may report another one of several
  // names of a tensor.
  void name_ports(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs);
  // Sets the order of the node's tensors. Throws Failure if the node lacks one. From then on, the part is in
  // attestations_as_json().
  void bind(const std::vector<ValueView>& inputs, const std::vector<ValueView>& outputs);

  // Sets the fallback for requests that no device of this part computes as ONNX defines it. Without one, such runs
  // fail.
  void fall_back_to(std::shared_ptr<HostFallback> fallback) { fallback_ = std::move(fallback); }

  // Runs the model; a `timeout_ms` of 0 means no limit. Outputs of known shape are written to the host's memory.
  void run(const Host& host, abi::KernelContext* context, std::uint64_t timeout_ms);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Attestation attestation() const;

 private:
  // The buffers of one run; kept, so that later runs allocate nothing.
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
  std::vector<std::size_t> input_places_;   // for each input of the model, its index among the node's
  std::vector<std::size_t> output_places_;  // for each output of the model, its index among the node's
  std::vector<ValueView> node_inputs_;      // names only
  std::vector<ValueView> node_outputs_;
  std::shared_ptr<HostFallback> fallback_;
  std::function<std::unique_ptr<LoadedPart>(const Runtime&, const Options&)> again_;  // loads the same model once more
  core::Mutex mutex_;
  std::vector<std::unique_ptr<Buffers>> free_ LB_GUARDED_BY(mutex_);
  std::atomic<bool> reported_{false};  // whether a run on the host's CPU has been reported
  core::Mutex host_mutex_;
  std::unique_ptr<LoadedPart> on_host_ LB_GUARDED_BY(host_mutex_);  // what it points to is constant
};

// All parts that are loaded in this process, as JSON: what answers, why, and what was refused.
[[nodiscard]] std::string attestations_as_json();

}  // namespace latebind::provider
