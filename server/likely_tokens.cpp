#include "server/likely_tokens.h"

#include <algorithm>

namespace latebind::server {

std::uint64_t solid_bytes(std::string_view text) {
  const auto is_blank = [](char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; };
  return text.size() - static_cast<std::uint64_t>(std::ranges::count_if(text, is_blank));
}

std::uint64_t likely_tokens(std::uint64_t bytes, std::size_t tokens_max) {
  constexpr std::uint64_t kTokenBytes = 8;
  constexpr std::uint64_t kSpecialTokens = 2;
  return std::min<std::uint64_t>(tokens_max, bytes / kTokenBytes + kSpecialTokens);
}

std::uint64_t likely_tokens(std::span<const std::string> texts, std::uint64_t beside, std::size_t tokens_max) {
  std::uint64_t tokens = 0;
  for (const std::string& text : texts)
    tokens += likely_tokens(beside + solid_bytes(text), tokens_max);
  return tokens;
}

}  // namespace latebind::server
