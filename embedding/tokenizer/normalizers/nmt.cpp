// Nmt: removes some control characters, and turns separators of words into spaces.
#include "core/text/utf8.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

constexpr bool is_dropped(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

// The characters other than the space that SentencePiece treats as white space.
constexpr bool is_separator(char32_t c) {
  return c == '\t' || c == '\n' || c == 0xC || c == '\r' || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
         c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
}

class Nmt final : public Normalizer {
 public:
  std::size_t growth() const override { return 1; }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    const std::size_t origin = text.origin();
    const std::string_view rest = text.read_rest();
    std::size_t written = 0;  // bytes that represent the origin
    for (const char* p = rest.data(); p != rest.data() + rest.size();) {
      const bool is_origin = static_cast<std::size_t>(p - rest.data()) < origin;
      const char32_t c = core::decode_utf8(p);
      if (is_dropped(c)) continue;
      const char32_t now = is_separator(c) ? U' ' : c;
      text.write(now);
      if (is_origin) core::encode_utf8(now, [&written](char) { ++written; });
    }
    text.set_origin(written);
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedText now;
    for_each_char(text, [&now](char32_t c, std::size_t origin) {
      if (!is_dropped(c)) now.append(is_separator(c) ? U' ' : c, origin);
    });
    return now;
  }
};

}  // namespace

core::Result<NormalizerPtr> read_nmt(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<Nmt>());
}

}  // namespace latebind::embedding
