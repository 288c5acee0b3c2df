// Request: one warm vendor request, with the tensors that wrap the caller's memory. The pool owns it.
//
// Without a time limit, the vendor reads and writes the caller's memory directly where possible. The request copies to
// and from its own memory if the caller's cannot be used: inputs with gaps, addresses that are not aligned to the
// element, outputs whose shape is known only after the run, and all tensors of a run that may be abandoned, since the
// device may then still run after the caller has freed its memory.
//
// One thread at a time may use a request (the pool ensures this), except for cancel() and has_failed(). A request must
// be destroyed before its Compiled.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "backends/openvino/compiled.h"
#include "core/tensor/tensor.h"

namespace latebind::openvino {

class Request {
 public:
  static core::Result<Request> create(const Compiled& compiled);

  // Places the inputs, which have been checked, and the outputs of the next run, and copies inputs if necessary. Does
  // not call the vendor; all errors are the caller's.
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory);
  // Runs unless the run was abandoned before, and reads the result. After an error, the request must not be used again.
  // Does not touch the caller's memory if all tensors are in the request's own.
  [[nodiscard]] core::Status compute(const std::atomic<bool>& given_up);
  // Gives the outputs of the run their actual shapes, and copies those that are not in place. Does not call the vendor;
  // all errors are the caller's.
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs);

  // Returns whether the vendor reports a failure of the current or the previous run. It is for runs that are started
  // and waited for. Another thread may call it during a run.
  [[nodiscard]] bool has_failed() const;

  // Stops the run, from another thread. Returns false if the run cannot be stopped and ends by itself; otherwise the
  // request must not be used again.
  [[nodiscard]] bool cancel();

 private:
  struct Slot {
    TensorHandle tensor;  // wraps `data` with `shape`
    void* data = nullptr;
    core::Shape shape;
    core::OutputTensor own{};  // the request's memory, for copies
    // The place for the next run.
    void* next_data = nullptr;
    core::Shape next_shape;
    // For outputs: whether it is in the caller's memory. Otherwise `result` says, after a run, where it is.
    bool in_place = false;
    TensorHandle given;  // the vendor's tensor, if the output is in the vendor's memory
    const void* result = nullptr;
    core::Shape result_shape;
    std::size_t result_bytes = 0;
  };

  explicit Request(const Compiled& compiled) : compiled_(&compiled) {}
  using SetTensor = abi::Code (*)(abi::InferRequest*, std::size_t, const abi::Tensor*);
  static core::Status place_input(Slot& slot, const core::TensorView& view, bool in_own_memory);
  core::Status place_packed(std::span<const core::TensorView> inputs, bool in_own_memory);
  // Keeps the part of an output that belongs to the caller's texts.
  core::Status cut(Slot& slot, const core::TensorInfo& info) const;
  core::Status set(Slot& slot, const core::TensorInfo& info, std::size_t index, SetTensor set_tensor);
  [[nodiscard]] abi::Code infer();
  core::Status read_placed(std::size_t index);
  core::Status read_given(std::size_t index);
  [[nodiscard]] core::Status failed(abi::Code code) const;

  const Compiled* compiled_;
  InferRequestHandle handle_;
  std::vector<Slot> inputs_;  // the vendor's
  std::vector<Slot> outputs_;
  // With packed tokens: the shape of the caller's inputs, and the shape that is computed.
  core::Shape given_texts_;
  core::Shape computed_texts_;
};

}  // namespace latebind::openvino
