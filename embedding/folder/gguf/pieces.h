// The names of the pieces of a split GGUF file: STEM-00001-of-00003.gguf. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace latebind::embedding {

struct GgufPiece {
  std::string_view stem{};
  std::size_t number = 0;  // from 1 on
  std::size_t count = 0;
  std::string_view suffix{};  // ".gguf", in any case
};

// Returns std::nullopt for another name. The views are of `name`.
[[nodiscard]] std::optional<GgufPiece> gguf_piece_of(std::string_view name);
// Returns the name of piece `number` of the same file.
[[nodiscard]] std::string gguf_piece_name(const GgufPiece& of, std::size_t number);
// Returns whether all names are pieces of one file.
[[nodiscard]] bool are_gguf_pieces(const std::vector<std::string>& names);

}  // namespace latebind::embedding
