// Maps the names of tensors in GGUF to the names that Latebind's networks use.
//
// Source: llama.cpp's list of names, and what its converter does to the tensors of each architecture. Pure functions;
// any thread may call them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

// The name of a tensor in a network, and how the converter changed the tensor.
struct GgufName {
  std::string name{};
  bool is_matrix = false;  // a matrix with one row may be stored with one dimension
  // The number of heads whose rows the converter interleaved; 0 if it did not.
  std::size_t interleaved_heads = 0;
  float added = 0.0F;  // the converter added this to each number
};

// Renames the tensors of a file.
class GgufNames {
 public:
  // Returns kInvalidModel for head counts that are not integers. For unknown architectures, names stay as they are.
  static core::Result<GgufNames> of(const GgufHeader& header);

  // Returns the name in the file of a tensor that a network uses; `name` itself if there is none.
  [[nodiscard]] std::string name_in_file(std::string_view name) const;
  // Returns std::nullopt for a tensor that no network uses.
  [[nodiscard]] std::optional<GgufName> rename(std::string_view tensor) const;

 private:
  std::string architecture_;
  std::size_t heads_ = 0;
  std::size_t key_heads_ = 0;
};

// Returns whether the names of this architecture's tensors are known.
[[nodiscard]] bool has_gguf_names(std::string_view architecture);

}  // namespace latebind::embedding
