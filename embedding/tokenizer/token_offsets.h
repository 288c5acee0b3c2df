// TokenOffsets: where a token is in the text that it was made of. A value.
#pragma once

#include <cstddef>

namespace latebind::embedding {

// Bytes of the text, whole characters of it.
struct TokenOffsets {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const TokenOffsets&) const = default;
};

}  // namespace latebind::embedding
