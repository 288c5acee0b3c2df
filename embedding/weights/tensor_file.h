// TensorFile: the tensors of a file of weights by name, whatever its format. Tensors stay where they are in the mapped
// file; those that the file does not hold in the order of their elements, or in another form, are copied to memory, or
// computed when they are read.
//
// A type that Latebind cannot compute with is rejected only when its tensor is requested, because files contain tensors
// that are not needed. Immutable after it is opened; any thread may read. The spans are valid as long as the object, or
// its part() and its copies(), live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "core/tensor/tensor.h"

namespace latebind::embedding {

// A tensor in a file.
struct StoredTensor {
  std::string name;
  core::ElementType type = core::ElementType::kF32;
  std::vector<std::int64_t> shape;
  bool copied = false;
  std::uint64_t offset = 0;  // from the start of the file, or of the copies
  std::span<const std::byte> bytes;
};

class TensorFile {
 public:
  [[nodiscard]] bool contains(std::string_view name) const;
  // Returns a tensor of floating-point numbers (f32, f16 or bf16). Returns kInvalidModel if the file has no tensor of
  // this name or its shape is not `shape`, and kUnsupported for another type.
  [[nodiscard]] core::Result<StoredTensor> find(std::string_view name, std::span<const std::int64_t> shape) const;
  // Does the same without the tensor's bytes, which therefore need not be computed.
  [[nodiscard]] core::Result<StoredTensor> locate(std::string_view name, std::span<const std::int64_t> shape) const;

  // Returns std::nullopt if the file has no tensor of this name.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape_of(std::string_view name) const;
  // A tensor of any type. `type` is its name in safetensors: "I64".
  struct Stored {
    std::string type;
    std::span<const std::byte> bytes;
  };
  // Returns std::nullopt if the file has no tensor of this name, or only one that find() refuses.
  [[nodiscard]] std::optional<Stored> stored(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::size_t tensor_count() const { return entries_.size(); }
  // The whole file.
  [[nodiscard]] const core::FilePart& part() const { return part_; }
  // The tensors that were copied or are computed, consecutively; empty if there are none.
  [[nodiscard]] const core::FilePart& copies() const { return copies_; }
  // The file's name, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  struct Entry {
    std::string type;  // its name in safetensors: "F32"
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;  // from data_start_, or in the copies
    std::uint64_t end = 0;
    bool copied = false;
    std::string refusal{};  // why the tensor cannot be used; empty if it can
  };

  // Returns the name of a tensor in the file, for messages; empty if it is the name here.
  std::function<std::string(std::string_view name)> name_in_file_;
  // What says which shapes the tensors must have, for messages.
  std::string_view sizes_from_ = "config.json";

  TensorFile() = default;
  [[nodiscard]] std::span<const std::byte> bytes() const { return part_.bytes.bytes; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const Entry& entry) const;

  std::string name_;
  core::FilePart part_;
  core::FilePart copies_;
  std::size_t data_start_ = 0;  // where the data begins in the file
  std::map<std::string, Entry, std::less<>> entries_;
};

// Returns the bits of a number of this type ("F32"), or std::nullopt for an unknown one.
[[nodiscard]] std::optional<unsigned> bits_of_type(std::string_view name);
// Returns the bytes of a tensor, or std::nullopt if the size overflows or is not a whole number of bytes.
[[nodiscard]] std::optional<std::uint64_t> bytes_of_shape(std::span<const std::int64_t> shape, unsigned bits);
// Returns "FILE: tensor 'NAME'", for messages.
[[nodiscard]] std::string place_of_tensor(std::string_view file, std::string_view tensor);

}  // namespace latebind::embedding
