// LoadedMethod: one delegate call of a program, loaded by Latebind. A DelegateHandle points to it and owns it.
//
// execute() is for one thread at a time, like ExecuTorch's Method; active() may be called concurrently. Several methods
// may run at once on several threads.
#pragma once

#include <executorch/runtime/backend/interface.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hosts/executorch/payload.h"
#include "latebind/latebind.h"

namespace latebind::delegate {

struct ModelDestroyer {
  void operator()(lb_model* model) const { lb_model_destroy(model); }
};
struct OutputDestroyer {
  void operator()(lb_output* output) const { lb_output_destroy(output); }
};

class LoadedMethod {
 public:
  // Loads a method, or returns an error that has been logged. `name` is the method's name.
  static ::executorch::runtime::Error load(const lb_runtime* runtime, std::string name,
                                           const std::shared_ptr<Payload>& payload, const lb_options* options,
                                           std::unique_ptr<LoadedMethod>& loaded);
  LoadedMethod(const LoadedMethod&) = delete;
  LoadedMethod& operator=(const LoadedMethod&) = delete;
  // Does not wait for a device that hangs: the memory of its calls stays until they return.
  ~LoadedMethod();

  // Runs the method. `args` are the model's inputs followed by its outputs; outputs of dynamic shape are resized.
  // Repeated calls with the same shapes and memory allocate nothing, unless a tracer asks which device answered.
  [[nodiscard]] ::executorch::runtime::Error execute(::executorch::runtime::BackendExecutionContext& context,
                                                     ::executorch::runtime::Span<::executorch::runtime::EValue*> args);

  // The device that would answer now. All texts are empty if that is unknown.
  struct Active {
    std::string device;  // "openvino:CPU"
    std::string precision;
    std::string runtime_version;
    std::string reason;  // why a preferred device could not be used; empty otherwise
  };
  [[nodiscard]] Active active() const;

 private:
  struct Port {
    std::string name;
    std::int32_t type = LB_F32;
    std::vector<std::int64_t> shape;
  };
  struct Output {
    std::unique_ptr<lb_output, OutputDestroyer> in_place;  // writes to the tensor's memory
    std::unique_ptr<lb_output, OutputDestroyer> aside;     // used if writing in place is impossible
    // The memory that in_place was last bound to, and the size that is known to be there: a resized tensor does not
    // report how large it may become again.
    void* data = nullptr;
    std::size_t capacity = 0;
    bool uses_in_place = false;
  };

  LoadedMethod(std::string name, std::shared_ptr<Payload> payload);
  ::executorch::runtime::Error read_ports();
  ::executorch::runtime::Error refuse(const std::string& text, ::executorch::runtime::Error error) const;
  ::executorch::runtime::Error read_input(std::size_t index, const ::executorch::runtime::EValue& value);
  ::executorch::runtime::Error prepare_output(std::size_t index, const ::executorch::runtime::EValue& value);
  ::executorch::runtime::Error take_output(std::size_t index, const ::executorch::runtime::EValue& value);
  [[nodiscard]] std::size_t hung_runs() const;
  lb_code run(::executorch::runtime::BackendExecutionContext& context);

  const std::string name_;
  const std::shared_ptr<Payload> payload_;
  std::unique_ptr<lb_model, ModelDestroyer> model_;
  std::vector<Port> input_ports_;
  std::vector<Port> output_ports_;
  // Kept between runs.
  std::vector<lb_tensor> inputs_;
  std::vector<std::array<std::byte, 8>> scalars_;  // inputs that are numbers, not tensors
  std::vector<Output> outputs_;
  std::vector<lb_output*> output_handles_;
};

}  // namespace latebind::delegate
