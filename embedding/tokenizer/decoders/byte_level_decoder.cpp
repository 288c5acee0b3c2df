// ByteLevel: the characters of all tokens represent bytes, which are the text.
#include "core/text/utf8.h"
#include "embedding/tokenizer/byte_chars.h"
#include "embedding/tokenizer/byte_level_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

// Appends the bytes that the characters of a token represent, or the token itself if one of them represents none.
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

class ByteLevelDecoder final : public Decoder {
 public:
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens)
      append_bytes(token, bytes);
    std::string text;
    std::string_view rest = bytes;
    while (const auto invalid = core::find_invalid_utf8(rest)) {
      text.append(rest.substr(0, *invalid)).append("\uFFFD");
      rest.remove_prefix(*invalid);
      rest.remove_prefix(core::malformed_utf8_size(rest));
    }
    text.append(rest);
    tokens.assign(1, std::move(text));
    return tokens;
  }
};

}  // namespace

core::Result<DecoderPtr> read_byte_level_decoder(const JsonView& view) {
  // The options do not matter here.
  LB_RETURN_IF_ERROR(read_byte_level_options(view).status());
  return DecoderPtr(std::make_unique<ByteLevelDecoder>());
}

}  // namespace latebind::embedding
