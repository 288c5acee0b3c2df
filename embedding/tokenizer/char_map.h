// CharMap: how each code point is mapped between text and words, for one set of options.
//
// Both normalizing (cleaning, separating ideographs, decomposing, stripping marks, lower case) and classifying for the
// pre-tokenizer look at one code point at a time, except that combining marks are put in canonical order. Therefore one
// table serves both. Its pages of 256 code points are created on first use. Owned by the tokenizer; any thread may look
// up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "embedding/tokenizer/code_point_pages.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {

// BertNormalizer's options. The default values change nothing.
struct BertNormalizerOptions {
  bool clean_text = false;
  bool handle_chinese_chars = false;
  bool strip_accents = false;
  bool lowercase = false;
};

enum class CharKind : std::uint8_t {
  kLetter,       // part of a word: all characters of no other kind
  kSpace,        // ends a word and is dropped
  kPunctuation,  // a word by itself
  kIdeograph,    // a word by itself, surrounded by spaces in the normalized text
  kDropped,      // removed
  kSequence,     // becomes several code points, or one that may have to be reordered with its neighbours
};

class CharMap {
 public:
  class Entry {
   public:
    Entry() = default;
    Entry(CharKind kind, char32_t value) : bits_(static_cast<std::uint32_t>(kind) << 24 | value) {}
    [[nodiscard]] CharKind kind() const { return static_cast<CharKind>(bits_ >> 24); }
    // The mapped code point; undefined for kDropped and kSequence.
    [[nodiscard]] char32_t code_point() const { return bits_ & 0xFFFFFFU; }

   private:
    std::uint32_t bits_ = 0;
  };

  struct Part {
    char32_t code_point;
    CharKind kind;  // one of the first three
    // Canonical combining class if the options require canonical order, else 0.
    std::uint8_t combining_class;
  };

  explicit CharMap(const BertNormalizerOptions& options);

  // The map without options. The process has one, created on first use and never destroyed, since threads may still
  // tokenize while the process ends.
  static const CharMap& unchanged();

  // Whether clean_text removes c, whose properties are unicode::properties(c).
  [[nodiscard]] static bool is_dropped(char32_t c, std::uint8_t properties);

  [[nodiscard]] Entry lookup(char32_t c) const { return page(c).entries[c & 0xFFU]; }
  [[nodiscard]] Entry lookup_ascii(unsigned char c) const { return ascii_->entries[c]; }
  // Requires that c is of kind kSequence.
  [[nodiscard]] std::span<const Part> parts(char32_t c) const;

 private:
  struct Page {
    std::array<Entry, 256> entries;
    std::vector<Part> parts;  // of all sequences of the page; an entry's value is (position << 4 | count)
  };

  const Page& page(char32_t c) const {
    return pages_.page_of(c, [this](char32_t first, Page& page) { fill(first, page); });
  }
  void fill(char32_t first, Page& page) const;
  Entry make_entry(char32_t c, std::vector<Part>& parts) const;

  const BertNormalizerOptions options_;
  CodePointPages<Page> pages_;
  const Page* ascii_ = nullptr;
};

}  // namespace latebind::embedding
