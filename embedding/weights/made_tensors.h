// MadeTensors: tensors that are computed while a model is opened, in memory. They replace tensors of the model's files,
// or stand beside them.
//
// One thread fills it; afterwards it is a TensorFile like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

class MadeTensors : public TensorFile {
 public:
  struct Wanted {
    std::string name;
    core::ElementType type = core::ElementType::kF32;  // f32, f16 or bf16
    std::vector<std::int64_t> shape;
  };

  // Allocates tensors with distinct names, whose numbers are unspecified. `name` stands for them in messages. Returns
  // kInvalidModel for a size that overflows, and kOutOfMemory.
  static core::Result<MadeTensors> of(std::string name, std::span<const Wanted> wanted);

  // The bytes of one of the tensors, to be written.
  [[nodiscard]] std::span<std::byte> to_write(std::string_view tensor);

 private:
  MadeTensors() = default;

  std::shared_ptr<std::byte[]> memory_;
};

// Writes f32 numbers in a tensor's type, each rounded to the nearest number of it.
void write_floats(std::span<const float> numbers, core::ElementType type, std::byte* to);
// Reads numbers of a tensor's type as f32.
void read_floats(const std::byte* from, core::ElementType type, std::span<float> numbers);

}  // namespace latebind::embedding
