// Safetensors: the tensors of a `.safetensors` file, mapped and checked, without copies.
//
// Source of the format: the safetensors README (8 bytes little-endian length, a JSON header, then the data). open()
// validates the whole header: unique names, sizes equal to shape times type, ranges in bounds and without overlaps or
// holes. A type that Latebind cannot compute with is rejected only when its tensor is requested, because files contain
// tensors that are not needed.
//
// Immutable after it is opened; any thread may read. The spans are valid as long as the object or its part() lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "core/tensor/tensor.h"

namespace latebind::embedding {

// The usual name of a model's weights file.
inline constexpr std::string_view kSafetensorsFile = "model.safetensors";

// A tensor in a file.
struct StoredTensor {
  std::string name;
  core::ElementType type = core::ElementType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  // from the start of the file
  std::span<const std::byte> bytes;
};

class Safetensors {
 public:
  // The largest header that is read. The reference allows 100 MB; 8 MiB are some 80,000 tensors.
  static constexpr std::size_t kHeaderBytesMax = std::size_t{8} << 20;

  // Maps and checks the file. Returns the errors of mapping it, such as kNotFound and kIo, and kInvalidModel with the
  // file and the tensor in the text.
  static core::Result<Safetensors> open(const std::filesystem::path& file);
  // The same for a file that is mapped already, or a part of one. `name` stands for it in messages.
  static core::Result<Safetensors> from_part(core::FilePart part, std::string name);
  // The same for bytes that outlive the object.
  static core::Result<Safetensors> from_bytes(std::span<const std::byte> bytes, std::string name);

  [[nodiscard]] bool contains(std::string_view name) const;
  // Returns a tensor of floating-point numbers (f32, f16 or bf16). Returns kInvalidModel if the file has no tensor of
  // this name or its shape is not `shape`, and kUnsupported for another type.
  [[nodiscard]] core::Result<StoredTensor> find(std::string_view name, std::span<const std::int64_t> shape) const;

  // Returns std::nullopt if the file has no tensor of this name.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape_of(std::string_view name) const;
  // A tensor of any type. `type` is the file's name of it: "I64".
  struct Stored {
    std::string type;
    std::span<const std::byte> bytes;
  };
  [[nodiscard]] std::optional<Stored> stored(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] std::size_t tensor_count() const { return entries_.size(); }
  // The whole file.
  [[nodiscard]] const core::FilePart& part() const { return part_; }
  // The length of the length field and the header, which precede the data.
  [[nodiscard]] std::size_t data_start() const { return data_start_; }
  // The file's name, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  struct Entry {
    std::string type;  // the file's name of the type: "F32"
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0;  // within the data
    std::uint64_t end = 0;
  };

  Safetensors() = default;
  [[nodiscard]] core::Status read_header();
  [[nodiscard]] core::Status check_ranges() const;

  [[nodiscard]] std::span<const std::byte> bytes() const { return part_.bytes.bytes; }

  std::string name_;
  core::FilePart part_;
  std::size_t data_start_ = 0;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace latebind::embedding
