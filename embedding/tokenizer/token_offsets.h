// TokenOffsets: the position of a token in the text from which it was made. A value.
#pragma once

#include <cstddef>

namespace latebind::embedding {

// Bytes of the text; they contain whole characters.
struct TokenOffsets {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TokenOffsets&) const = default;
};

}  // namespace latebind::embedding
