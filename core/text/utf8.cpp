#include "core/text/utf8.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "core/text/utf8_wide.h"

namespace latebind::core {

namespace {

struct Begun {
  std::size_t length = 0;  // 0 when no character of several bytes begins like this
  // The bounds of the second byte exclude overlong forms, surrogates and values above U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

constexpr Begun begun_by(unsigned char lead) {
  if (lead >= 0xC2 && lead <= 0xDF) return {2};
  if (lead == 0xE0) return {3, 0xA0};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead > 0xE0 && lead <= 0xEF) return {3};
  if (lead == 0xF0) return {4, 0x90};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  if (lead > 0xF0 && lead < 0xF4) return {4};
  return {0};
}

// A state machine without branches. The idea: each byte has a row of 64 bits that holds, for each state, the next state
// at the bit offset of the current one, so one shift is one step. For texts that alternate between ASCII and other
// characters it takes a third of the time.
namespace machine {

enum State : unsigned {
  kInvalid = 0,  // never left
  kBetween = 6,  // between characters
  kOneMore = 12,
  kTwoMore = 18,
  kThreeMore = 24,
  kAfterE0 = 30,
  kAfterEd = 36,
  kAfterF0 = 42,
  kAfterF4 = 48,
};

constexpr State after_lead(unsigned lead) {
  if (lead < 0x80) return kBetween;
  switch (begun_by(static_cast<unsigned char>(lead)).length) {
    case 2:
      return kOneMore;
    case 3:
      return lead == 0xE0 ? kAfterE0 : lead == 0xED ? kAfterEd : kTwoMore;
    case 4:
      return lead == 0xF0 ? kAfterF0 : lead == 0xF4 ? kAfterF4 : kThreeMore;
    default:
      return kInvalid;
  }
}

constexpr std::array<std::uint64_t, 256> made_rows() {
  std::array<std::uint64_t, 256> rows{};
  for (unsigned byte = 0; byte < rows.size(); ++byte) {
    std::uint64_t& row = rows[byte];
    row = std::uint64_t{after_lead(byte)} << kBetween;
    const auto follows = [&](State state, unsigned low, unsigned high, State next) {
      if (byte >= low && byte <= high) row |= std::uint64_t{next} << state;
    };
    follows(kOneMore, 0x80, 0xBF, kBetween);
    follows(kTwoMore, 0x80, 0xBF, kOneMore);
    follows(kThreeMore, 0x80, 0xBF, kTwoMore);
    for (const auto& [state, lead, next] :
         {std::tuple(kAfterE0, 0xE0, kOneMore), std::tuple(kAfterEd, 0xED, kOneMore),
          std::tuple(kAfterF0, 0xF0, kTwoMore), std::tuple(kAfterF4, 0xF4, kTwoMore)}) {
      const Begun begun = begun_by(static_cast<unsigned char>(lead));
      follows(state, begun.low, begun.high, next);
    }
  }
  return rows;
}
constexpr std::array<std::uint64_t, 256> kRows = made_rows();

}  // namespace machine

// Like find_invalid_utf8(), character by character.
std::optional<std::size_t> find_invalid_from(std::string_view text, std::size_t i) {
  const std::size_t size = text.size();
  const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < size) {
    if (byte(i) < 0x80) {
      ++i;
      continue;
    }
    const auto [length, low, high] = begun_by(byte(i));
    if (length == 0) return i;
    if (size - i < length || byte(i + 1) < low || byte(i + 1) > high) return i;
    for (std::size_t k = 2; k < length; ++k) {
      if ((byte(i + k) & 0xC0U) != 0x80U) return i;
    }
    i += length;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const char* const data = text.data();
  const std::size_t size = text.size();
  std::uint64_t state = machine::kBetween;
  std::size_t good = utf8_wide_prefix(text);  // between two characters
  for (std::size_t i = good; i < size;) {
    if (state == machine::kBetween) {
      good = i;
      std::uint64_t eight = 0;
      if (size - i >= sizeof(eight)) {
        std::memcpy(&eight, data + i, sizeof(eight));
        if ((eight & 0x8080808080808080U) == 0) {
          i += sizeof(eight);
          continue;
        }
      }
    }
    const std::size_t end = i + std::min<std::size_t>(8, size - i);
    for (; i < end; ++i)
      state = machine::kRows[static_cast<unsigned char>(data[i])] >> (state & 63U);
    state &= 63U;
    if (state == machine::kInvalid) break;
  }
  return state == machine::kBetween ? std::nullopt : find_invalid_from(text, good);
}

std::size_t malformed_utf8_size(std::string_view text) {
  auto [length, low, high] = begun_by(static_cast<unsigned char>(text.front()));
  std::size_t good = 1;
  for (; good < length && good < text.size(); ++good) {
    const auto byte = static_cast<unsigned char>(text[good]);
    if (byte < low || byte > high) break;
    low = 0x80;
    high = 0xBF;
  }
  return good;
}

std::string_view cut_utf8(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) return text;
  std::size_t end = size_max;
  while (end > 0 && is_utf8_continuation(text[end]))
    --end;
  return text.substr(0, end);
}

}  // namespace latebind::core
