// One warm vendor request, with the tensors that wrap the caller's memory.
//
// Memory: without a time limit the vendor reads from and writes to the caller's memory directly. Copies are made, into
// memory that the request keeps, where the caller's cannot be used: inputs with gaps, addresses that are not aligned to
// the element, outputs whose shape is known only after the run, and everything in a run that may be abandoned: the
// device may still be running then, and must not touch what the caller has freed.
//
// One thread at a time (the pool ensures this), except for cancel(). Must be destroyed before the Compiled that it was
// made from.
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

  // Sets where these inputs (checked already) and outputs are for the next run, and copies what needs to be copied.
  // Does not call the vendor; an error is the caller's error.
  [[nodiscard]] core::Status place(std::span<const core::TensorView> inputs, std::span<core::OutputTensor> outputs,
                                   bool in_own_memory);
  // Runs, unless it was abandoned before that, and reads the result. After an error the request cannot be trusted.
  // Touches none of the caller's memory when all was placed in the request's own.
  [[nodiscard]] core::Status compute(const std::atomic<bool>& given_up);
  // Delivers the outputs of the run: their true shapes, and the bytes where they are not in place yet. Does not call
  // the vendor; an error is the caller's error.
  [[nodiscard]] core::Status give(std::span<core::OutputTensor> outputs);

  // Tells the run to stop, from another thread. False when that was not done, and the run ends by itself; else the
  // request cannot be trusted afterwards.
  [[nodiscard]] bool cancel();

 private:
  struct Slot {
    TensorHandle tensor;  // wraps `data` with `shape`
    void* data = nullptr;
    core::Shape shape;
    core::OutputTensor own{};  // the request's memory, for copies
    // Where the next run has it.
    void* next_data = nullptr;
    core::Shape next_shape;
    // Of an output: it is in the caller's memory; else, after a run, where it is.
    bool in_place = false;
    TensorHandle given;  // the vendor's tensor, when it is in the vendor's memory
    const void* result = nullptr;
    core::Shape result_shape;
    std::size_t result_bytes = 0;
  };

  explicit Request(const Compiled& compiled) : compiled_(&compiled) {}
  using SetTensor = abi::Code (*)(abi::InferRequest*, std::size_t, const abi::Tensor*);
  static core::Status place_input(Slot& slot, const core::TensorView& view, bool in_own_memory);
  core::Status place_packed(std::span<const core::TensorView> inputs, bool in_own_memory);
  // What was computed for the caller's texts, of what was computed.
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
  // Where tokens are packed: of the caller's inputs, and what is computed for them.
  core::Shape given_texts_;
  core::Shape computed_texts_;
};

}  // namespace latebind::openvino
