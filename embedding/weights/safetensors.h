// Safetensors: the tensors of a `.safetensors` file, mapped and checked, without copies.
//
// Source of the format: the safetensors README (8 bytes little-endian length, a JSON header, then the data). open()
// validates the whole header: unique names, sizes equal to shape times type, ranges in bounds and without overlaps or
// holes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/tensor_file.h"

namespace latebind::embedding {

// The usual name of a model's weights file.
inline constexpr std::string_view kSafetensorsFile = "model.safetensors";

class Safetensors : public TensorFile {
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

  // The length of the length field and the header, which precede the data.
  [[nodiscard]] std::size_t data_start() const { return data_start_; }

 private:
  Safetensors() = default;
  [[nodiscard]] core::Status read_header();
  [[nodiscard]] core::Status check_ranges() const;
};

}  // namespace latebind::embedding
