#include "embedding/tokenizer/normalizer.h"

#include <limits>

namespace latebind::embedding {

std::string normalize(std::string_view text, const CharMap& map) {
  struct Writer {
    std::string out;
    bool visit(CharKind kind, char32_t c) {
      const bool apart = kind == CharKind::kIdeograph;
      if (apart) out.push_back(' ');
      encode_utf8(c, [this](char byte) { out.push_back(byte); });
      if (apart) out.push_back(' ');
      return true;
    }
  } writer;
  writer.out.reserve(text.size());
  walk_normalized(text, map, std::numeric_limits<std::size_t>::max(), writer);
  return std::move(writer.out);
}

}  // namespace latebind::embedding
