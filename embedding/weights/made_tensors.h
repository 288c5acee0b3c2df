// MadeTensors: tensors in memory that are computed while a model is opened. They replace or extend the tensors of the
// model's files.
//
// One thread fills it; afterwards any thread may read it, as any TensorFile.
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

  // Allocates tensors, whose names must be distinct and whose numbers are unspecified. `name` is for messages. Returns
  // kInvalidModel for a size that overflows, and kOutOfMemory.
  static core::Result<MadeTensors> of(std::string name, std::span<const Wanted> wanted);

  // Returns the writable bytes of a tensor, which this object owns.
  [[nodiscard]] std::span<std::byte> to_write(std::string_view tensor);

 private:
  MadeTensors() = default;

  std::shared_ptr<std::byte[]> memory_;
};

// Converts f32 numbers to a tensor's type, rounding to nearest even.
void write_floats(std::span<const float> numbers, core::ElementType type, std::byte* to);
// Converts numbers of a tensor's type to f32.
void read_floats(const std::byte* from, core::ElementType type, std::span<float> numbers);

}  // namespace latebind::embedding
