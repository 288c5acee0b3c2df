// The tensors of one raw run, and its circumstances (RawRun). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backends/plugin/host.h"
#include "core/result.h"
#include "core/tensor/tensor.h"
#include "kit/raw/raw_plugin.h"
#include "kit/raw/watching_host.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// Inputs in memory of their own, aligned for their types and no more.
class RawInputs {
 public:
  // Throws std::out_of_range if an input is missing.
  RawInputs(const std::vector<core::TensorInfo>& infos, const Inputs& values, std::size_t growth);
  [[nodiscard]] const lbb_tensor* const* list() const { return list_.data(); }
  [[nodiscard]] std::size_t count() const { return list_.size(); }
  // kInternal if the plug-in has changed one.
  [[nodiscard]] core::Status check_unchanged() const;

 private:
  struct Tensor {
    std::string name;
    Dims dims;
    std::unique_ptr<std::byte[]> memory;
    std::byte* data = nullptr;
    std::vector<std::byte> original;
    std::unique_ptr<std::byte[]> given;  // lbb_tensor, and what a later host appends to it
  };
  std::deque<Tensor> tensors_;
  std::vector<const lbb_tensor*> list_;
};

// Outputs in memory with edges that nobody may touch.
class RawOutputs {
 public:
  RawOutputs(const std::vector<core::TensorInfo>& infos, bool has_memory);
  RawOutputs(const RawOutputs&) = delete;
  RawOutputs& operator=(const RawOutputs&) = delete;
  ~RawOutputs();

  [[nodiscard]] lbb_output* const* list() const { return list_.data(); }
  [[nodiscard]] std::size_t count() const { return list_.size(); }
  // Announces the outputs for the time of the slot.
  [[nodiscard]] std::deque<Usable> usable() const;
  [[nodiscard]] core::Status check_edges() const;
  // What the host has refused in the run; ok if nothing.
  [[nodiscard]] core::Status problem() const;
  // The results of a run that has succeeded. kInternal if an output was not prepared.
  [[nodiscard]] core::Result<std::vector<Array>> take() const;

 private:
  class Memory;
  struct Output {
    core::TensorInfo info;
    std::unique_ptr<Memory> memory;
    std::unique_ptr<core::OutputTensor> tensor;
    lbb_output* given = nullptr;  // never freed: see kept()
  };
  std::deque<Output> outputs_;
  std::vector<lbb_output*> list_;
};

class RawCircumstances {
 public:
  explicit RawCircumstances(const RawRun& how);
  [[nodiscard]] const lbb_run* get() const { return run_; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  lbb_run* run_;
};

}  // namespace latebind::kit
