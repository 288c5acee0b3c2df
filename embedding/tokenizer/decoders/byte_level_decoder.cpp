// ByteLevel: the characters of all tokens are bytes, and these are the text.
#include "core/text/utf8.h"
#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

// The bytes that the characters of a token stand for; those of the token itself, if one of them stands for none.
void append_bytes(std::string_view token, std::string& bytes) {
  const std::size_t before = bytes.size();
  const char* const end = token.data() + token.size();
  for (const char* p = token.data(); p != end;) {
    const int byte = byte_of_char(core::decode_utf8(p));
    if (byte < 0) {
      bytes.resize(before);
      bytes.append(token);
      return;
    }
    bytes.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  }
}

// How many bytes at the beginning of `text`, which is not UTF-8 there, are one error: the beginning of a character, as
// far as it goes, or one byte (Unicode 15, section 3.9, "substitution of maximal subparts").
std::size_t bad_bytes(std::string_view text) {
  const auto at = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned lead = at(0);
  std::size_t size = 0;
  unsigned least = 0x80;
  unsigned most = 0xBF;
  if (lead >= 0xE0 && lead <= 0xEF) {
    size = 3;
    if (lead == 0xE0) least = 0xA0;
    if (lead == 0xED) most = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    size = 4;
    if (lead == 0xF0) least = 0x90;
    if (lead == 0xF4) most = 0x8F;
  }
  std::size_t good = 1;
  while (good < size && at(good) >= least && at(good) <= most) {
    ++good;
    least = 0x80;
    most = 0xBF;
  }
  return good;
}

class ByteLevelDecoder final : public Decoder {
 public:
  std::string decode(std::span<const std::string_view> tokens) const override {
    std::string bytes;
    for (const std::string_view token : tokens)
      append_bytes(token, bytes);
    std::string text;
    std::string_view rest = bytes;
    while (const auto invalid = core::find_invalid_utf8(rest)) {
      text.append(rest.substr(0, *invalid)).append("\uFFFD");
      rest.remove_prefix(*invalid);
      rest.remove_prefix(bad_bytes(rest));
    }
    return text.append(rest);
  }
};

}  // namespace

core::Result<DecoderPtr> read_byte_level_decoder(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  // None of them matters here.
  for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) {
    if (view.find(key) != nullptr || key[0] != 'u') LB_RETURN_IF_ERROR(view.boolean(key).status());
  }
  return DecoderPtr(std::make_unique<ByteLevelDecoder>());
}

}  // namespace latebind::embedding
