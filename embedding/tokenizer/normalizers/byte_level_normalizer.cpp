// ByteLevel as a normalizer: writes each byte of the text as a character.
#include <memory>
#include <string_view>

#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

std::string_view char_of(char byte) {
  const ByteChar& c = kByteChars[static_cast<unsigned char>(byte)];
  return {c.utf8, c.size};
}

class ByteLevelNormalizer final : public Normalizer {
 public:
  std::size_t growth() const override { return 2; }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    const std::size_t origin = text.origin();
    const std::string_view rest = text.read_rest();
    std::size_t written = 0;  // bytes that represent the origin
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const std::string_view c = char_of(rest[i]);
      text.write(c);
      if (i < origin) written += c.size();
    }
    text.set_origin(written);
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedText now;
    for (std::size_t i = 0; i < text.text().size(); ++i)
      now.append(char_of(text.text()[i]), text.origin(i));
    return now;
  }
};

}  // namespace

core::Result<NormalizerPtr> read_byte_level_normalizer(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<ByteLevelNormalizer>());
}

}  // namespace latebind::embedding
