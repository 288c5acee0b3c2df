// ByteFallback: consecutive tokens such as <0x0A> are bytes of text. If these are not UTF-8, each becomes a replacement
// character.
#include <optional>

#include "core/text/ascii.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

std::optional<char> byte_of(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
  const auto low = core::hexadecimal_digit(token[4]);
  // The reference parses a number here, which may have a sign.
  const auto high = token[3] == '+' ? std::optional(0U) : core::hexadecimal_digit(token[3]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(*high << 4U | *low));
}

class ByteFallbackDecoder final : public Decoder {
 public:
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    std::vector<std::string> decoded;
    std::string bytes;
    const auto end_bytes = [&] {
      if (bytes.empty()) return;
      if (core::find_invalid_utf8(bytes)) {
        decoded.insert(decoded.end(), bytes.size(), "\uFFFD");
      } else {
        decoded.push_back(bytes);
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes.push_back(*byte);
        continue;
      }
      end_bytes();
      decoded.push_back(std::move(token));
    }
    end_bytes();
    return decoded;
  }
};

}  // namespace

core::Result<DecoderPtr> read_byte_fallback_decoder(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return DecoderPtr(std::make_unique<ByteFallbackDecoder>());
}

}  // namespace latebind::embedding
