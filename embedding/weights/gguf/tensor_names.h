// The names of tensors in GGUF, and the names that the networks here have for them.
//
// Source: llama.cpp's list of names, and what its converter does to the tensors of each architecture. Pure functions;
// any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

// A tensor as a network asks for it.
struct GgufName {
  std::string name{};
  bool is_matrix = false;  // one row may be stored without its dimension
  // The converter interleaves the halves of each head's rows; 0 if it does not.
  std::size_t interleaved_heads = 0;
  float added = 0.0F;  // by the converter, to each number
};

// Renames the tensors of a file.
class GgufNames {
 public:
  // Returns kInvalidModel for numbers of heads that are not whole. Files of other architectures keep their names.
  static core::Result<GgufNames> of(const GgufHeader& header);

  // Returns std::nullopt for a tensor that no network asks for.
  [[nodiscard]] std::optional<GgufName> rename(std::string_view tensor) const;

 private:
  std::string_view architecture_{};
  std::size_t heads_ = 0;
  std::size_t key_heads_ = 0;
};

// Whether the names of this architecture's tensors are known.
[[nodiscard]] bool has_gguf_names(std::string_view architecture);

}  // namespace latebind::embedding
