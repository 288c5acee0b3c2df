// One warm vendor request, with the tensors that wrap the caller's memory.
//
// Memory: without a deadline the vendor reads from and writes to the caller's memory itself. Copies are made, into
// memory that the request keeps, where the caller's can not be used: inputs with gaps, addresses that are not aligned
// to the element, outputs whose shape is known after the run only, and everything in a run with a deadline. For such a
// run may be given up while the device is still at it, and then it must not touch what the caller has freed.
//
// One thread at a time (the pool sees to that). Must go before the Compiled that it was made from.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "backends/openvino/compiled.h"
#include "core/tensor.h"

namespace latebind::openvino {

class Request {
 public:
  static core::Result<Request> create(const Compiled& compiled);

  // Ready to run with these inputs (checked already) and outputs.
  [[nodiscard]] core::Status bind(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                  bool in_own_memory);

  [[nodiscard]] core::Status run();

  enum class Outcome {
    kDone,   // the status tells how
    kHangs,  // the device does not come back: the request must be kept until is_idle()
  };
  struct Run {
    Outcome outcome = Outcome::kDone;
    core::Status status;
  };
  // Gives up at the deadline: cancels, and waits a little for the device to obey.
  [[nodiscard]] Run run_until(std::chrono::steady_clock::time_point deadline);

  // Hands over the outputs of the run: true shapes, and the bytes where they are not there yet.
  [[nodiscard]] core::Status collect(std::span<core::OutputTensor> outputs);

  // False while a run that was given up goes on.
  [[nodiscard]] bool is_idle() const;

 private:
  [[nodiscard]] bool has_dynamic_input() const;
  struct Slot {
    TensorHandle tensor;  // wraps `data` with `shape`
    void* data = nullptr;
    core::Shape shape;
    core::OutputTensor own{};  // memory of ours, for copies
    bool copied = false;       // this run uses `own`
  };

  explicit Request(const Compiled& compiled) : compiled_(&compiled) {}
  using SetTensor = abi::Code (*)(abi::InferRequest*, std::size_t, const abi::Tensor*);
  core::Status set(Slot& slot, const core::TensorInfo& info, void* data, const core::Shape& shape, std::size_t index,
                   SetTensor set_tensor);
  core::Status collect_direct(std::size_t index, core::OutputTensor& output);
  core::Status collect_copy(std::size_t index, core::OutputTensor& output);
  [[nodiscard]] core::Status failed(abi::Code code) const;

  const Compiled* compiled_;
  InferRequestHandle handle_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
};

}  // namespace latebind::openvino
