// GgufHeader: the header of a GGUF file: metadata by key, and the name, shape, type and offset of each tensor.
//
// Source of the format: ggml's GGUF specification, versions 2 and 3, little-endian. Reading checks
// everything: sizes against limits and against the file, types, duplicate names, offsets of tensors. A value with views
// of memory that it shares; any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "core/tensor/shared_bytes.h"
#include "embedding/weights/gguf/values.h"

namespace latebind::embedding {

inline constexpr std::string_view kGgufMagic = "GGUF";

struct GgufTensor {
  std::string_view name{};
  std::vector<std::int64_t> shape{};  // the last dimension has consecutive elements, as in safetensors
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t size = 0;    // in bytes; 0 for an unknown type
};

// The place of a file among the pieces of a split one, from the keys "split.no", "split.count" and
// "split.tensors.count".
struct GgufSplit {
  std::uint64_t number = 0;  // from 0 on
  std::uint64_t count = 1;
  std::uint64_t tensors = 0;  // of all pieces; 0 if the file does not say
};

class GgufHeader {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{128} << 20;
  static constexpr std::size_t kValuesMax = 4096;
  static constexpr std::size_t kTensorsMax = 65536;
  static constexpr std::size_t kArrayMax = std::size_t{1} << 24;
  static constexpr std::size_t kNameBytesMax = 512;
  static constexpr std::size_t kRankMax = 4;
  static constexpr std::size_t kPiecesMax = 256;

  // Reads the header of a file, which messages call `name`. Returns kInvalidModel naming the key or the tensor,
  // kUnsupported for other versions and byte orders, and the errors of PartReader.
  static core::Result<GgufHeader> read(const core::FilePart& file, const std::string& name);
  // Adds the tensors of the next piece of a split file. Returns kInvalidModel for another piece.
  [[nodiscard]] core::Status add_piece(const GgufHeader& piece);

  [[nodiscard]] const std::map<std::string_view, GgufValue>& values() const { return values_; }
  // Null if the key is absent.
  [[nodiscard]] const GgufValue* find(std::string_view key) const;
  // Returns std::nullopt if the key is absent, and kInvalidModel for a value of another type; messages name the file.
  [[nodiscard]] core::Result<std::optional<std::string_view>> text(std::string_view key) const;
  [[nodiscard]] core::Result<std::optional<std::uint64_t>> whole(std::string_view key) const;
  [[nodiscard]] core::Result<std::optional<double>> number(std::string_view key) const;
  [[nodiscard]] core::Result<std::optional<bool>> flag(std::string_view key) const;
  // Arrays of texts (UTF-8 or not), floating-point numbers, and integers that are not negative.
  [[nodiscard]] core::Result<std::optional<std::vector<std::string_view>>> texts(std::string_view key) const;
  [[nodiscard]] core::Result<std::optional<std::vector<float>>> numbers(std::string_view key) const;
  [[nodiscard]] core::Result<std::optional<std::vector<std::uint64_t>>> wholes(std::string_view key) const;
  // The bytes of an array of U8 or I8.
  [[nodiscard]] core::Result<std::optional<std::string_view>> bytes(std::string_view key) const;

  // "bert", from "general.architecture"; empty if the key is absent.
  [[nodiscard]] std::string_view architecture() const { return architecture_; }
  // Only the first piece of a split file has metadata; its tensors may be in any piece.
  [[nodiscard]] const GgufSplit& split() const { return split_; }
  [[nodiscard]] const std::map<std::string_view, GgufTensor>& tensors() const { return tensors_; }
  [[nodiscard]] const GgufTensor* find_tensor(std::string_view name) const;
  // The file's name, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  class Parser;
  // The error for a value of another type.
  [[nodiscard]] core::Status wrong_type(std::string_view key, std::string_view wanted) const;

  std::string name_;
  // The headers' bytes, of all pieces, which the views are of.
  std::vector<std::shared_ptr<const std::string>> texts_;
  GgufSplit split_;
  std::string_view architecture_;
  std::map<std::string_view, GgufValue> values_;
  std::map<std::string_view, GgufTensor> tensors_;
};

}  // namespace latebind::embedding
