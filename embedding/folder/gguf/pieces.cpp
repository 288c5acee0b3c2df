#include "embedding/folder/gguf/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/text/ascii.h"

namespace latebind::embedding {

std::optional<GgufPiece> gguf_piece_of(std::string_view name) {
  constexpr std::string_view kSuffix = ".gguf";
  constexpr std::string_view kBetween = "-of-";
  constexpr std::size_t kDigits = 5;
  constexpr std::size_t kEnd = 1 + kDigits + kBetween.size() + kDigits + kSuffix.size();
  if (name.size() <= kEnd || !core::ends_with_in_any_case(name, kSuffix)) return std::nullopt;
  GgufPiece piece{.stem = name.substr(0, name.size() - kEnd), .suffix = name.substr(name.size() - kSuffix.size())};
  const std::string_view end = name.substr(piece.stem.size());
  const auto read = [&](std::size_t at, std::size_t& to) {
    const std::string_view digits = end.substr(at, kDigits);
    return std::ranges::all_of(digits, core::is_ascii_digit) &&
           std::from_chars(digits.data(), digits.data() + digits.size(), to).ec == std::errc();
  };
  const bool is_piece = end.front() == '-' && end.substr(1 + kDigits, kBetween.size()) == kBetween &&
                        read(1, piece.number) && read(1 + kDigits + kBetween.size(), piece.count);
  if (!is_piece || piece.number == 0 || piece.number > piece.count) return std::nullopt;
  return piece;
}

std::string gguf_piece_name(const GgufPiece& of, std::size_t number) {
  return fmt::format("{}-{:05}-of-{:05}{}", of.stem, number, of.count, of.suffix);
}

bool are_gguf_pieces(const std::vector<std::string>& names) {
  const auto first = names.empty() ? std::nullopt : gguf_piece_of(names.front());
  return first && std::ranges::all_of(names, [&](const std::string& name) {
           const auto piece = gguf_piece_of(name);
           return piece && piece->stem == first->stem && piece->count == first->count;
         });
}

}  // namespace latebind::embedding
