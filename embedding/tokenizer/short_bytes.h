// Reads and compares the few bytes of a token as machine words. The functions are inlined, since calling the library's
// function takes longer than the comparison. Pure functions, any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace latebind::embedding {

static_assert(std::endian::native == std::endian::little,
              "reading a word's first byte as the lowest needs a little-endian processor");

template <class Word>
[[nodiscard]] inline Word word_at(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// The last eight bytes, or all bytes of a shorter text. Together with the size, they identify a short text.
[[nodiscard]] inline std::uint64_t last_word(std::string_view text) {
  const char* const begin = text.data();
  const std::size_t size = text.size();
  if (size >= 8) return word_at<std::uint64_t>(begin + size - 8);
  if (size >= 4) return word_at<std::uint32_t>(begin) | std::uint64_t{word_at<std::uint32_t>(begin + size - 4)} << 32U;
  const auto byte = [begin](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(begin[at])}; };
  return size == 0 ? 0 : byte(0) | byte(size / 2) << 8U | byte(size - 1) << 16U;
}

// Whether the first `size` bytes of both are equal. No further byte is read.
[[nodiscard]] inline bool same_bytes(const char* a, const char* b, std::size_t size) {
  // The last word overlaps the previous one.
  const auto same_words = [&]<class Word>(Word) {
    for (std::size_t i = 0; i + sizeof(Word) < size; i += sizeof(Word)) {
      if (word_at<Word>(a + i) != word_at<Word>(b + i)) return false;
    }
    return word_at<Word>(a + size - sizeof(Word)) == word_at<Word>(b + size - sizeof(Word));
  };
  if (size >= sizeof(std::uint64_t)) return same_words(std::uint64_t());
  if (size >= sizeof(std::uint32_t)) return same_words(std::uint32_t());
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

[[nodiscard]] inline bool same_text(std::string_view a, std::string_view b) {
  return a.size() == b.size() && same_bytes(a.data(), b.data(), a.size());
}

}  // namespace latebind::embedding
