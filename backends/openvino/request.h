// One warm vendor request, with the tensors that wrap the caller's memory.
//
// Memory: without a limit of time the vendor reads from and writes to the caller's memory itself. Copies are made, into
// memory that the request keeps, where the caller's cannot be used: inputs with gaps, addresses that are not aligned
// to the element, outputs whose shape is known after the run only, and everything in a run that may be given up. For
// the device may still be at it then, and must not touch what the caller has freed.
//
// One thread at a time (the pool sees to that), but for cancel(). Must go before the Compiled that it was made from.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "backends/openvino/compiled.h"
#include "core/tensor.h"

namespace latebind::openvino {

class Request {
 public:
  static core::Result<Request> create(const Compiled& compiled);

  // Says where these inputs (checked already) and outputs are for the next run, and copies what has to be. Does not
  // call the vendor; an error is the caller's mistake.
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory);
  // Runs, unless it was given up before that, and reads what came of it. After an error the request is not to be
  // trusted. Touches none of the caller's memory when all was placed in the request's own.
  [[nodiscard]] core::Status compute(const std::atomic<bool>& given_up);
  // Hands over the outputs of the run: true shapes, and the bytes where they are not there yet. Does not call the
  // vendor; an error is the caller's mistake.
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs);

  // Tells the run to stop, from another thread. False when that is left undone, and the run ends by itself; else the
  // request is not to be trusted afterwards.
  [[nodiscard]] bool cancel();

 private:
  struct Slot {
    TensorHandle tensor;  // wraps `data` with `shape`
    void* data = nullptr;
    core::Shape shape;
    core::OutputTensor own{};  // memory of ours, for copies
    // Where the next run has it.
    void* next_data = nullptr;
    core::Shape next_shape;
    // Of an output: it lies where the caller wants it; else, after a run, where it is.
    bool in_place = false;
    TensorHandle given;  // the vendor's, when it is in memory of the vendor's
    const void* result = nullptr;
    core::Shape result_shape;
    std::size_t result_bytes = 0;
  };

  explicit Request(const Compiled& compiled) : compiled_(&compiled) {}
  using SetTensor = abi::Code (*)(abi::InferRequest*, std::size_t, const abi::Tensor*);
  core::Status set(Slot& slot, const core::TensorInfo& info, std::size_t index, SetTensor set_tensor);
  core::Status read_placed(std::size_t index);
  core::Status read_given(std::size_t index);
  [[nodiscard]] core::Status failed(abi::Code code) const;

  const Compiled* compiled_;
  InferRequestHandle handle_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
};

}  // namespace latebind::openvino
