// PreTokenizer: the second part of a tokenizer, which splits the normalized text into words.
//
// Each pre-tokenizer is a file in pre_tokenizers/; part_table.h lists them by name. Immutable, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"

namespace latebind::embedding {

// Maps the bytes of a rewritten word to the text; used only when offsets are needed.
class WordPlaces {
 public:
  WordPlaces() = default;
  WordPlaces(const WordPlaces&) = delete;
  WordPlaces& operator=(const WordPlaces&) = delete;
  virtual ~WordPlaces() = default;

  // Appends, for each byte of the word, the position of a byte of the text's character that it represents.
  virtual void append_to(std::vector<std::size_t>& places) const = 0;
};

struct Word {
  std::string_view text;  // not empty; valid until the sink returns
  // The bytes of the text that it represents.
  std::size_t begin;
  std::size_t end;
  const WordPlaces* places = nullptr;  // null: the word is unchanged; valid until the sink returns
};

// Receives the words, in the order of the text.
class WordSink {
 public:
  WordSink() = default;
  WordSink(const WordSink&) = delete;
  WordSink& operator=(const WordSink&) = delete;
  virtual ~WordSink() = default;

  // Returns false to stop.
  virtual bool word(const Word& word) = 0;
};

class PreTokenizer {
 public:
  PreTokenizer() = default;
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;
  virtual ~PreTokenizer() = default;

  // The greatest ratio of the length of the words to that of the text, apart from additions to each word.
  [[nodiscard]] virtual std::size_t growth() const { return 1; }
  // Whether words differ from the text.
  [[nodiscard]] virtual bool rewrites() const { return false; }
  // Whether words depend on the text's beginning before normalization.
  [[nodiscard]] virtual bool needs_origin() const { return false; }
  // Stops and returns false if the sink does. `text` must be well-formed UTF-8.
  virtual bool split(std::string_view text, WordSink& sink) const = 0;
  // The same; the first `origin` bytes represent the first character (see TextRewriter).
  virtual bool split_from(std::string_view text, std::size_t /*origin*/, WordSink& sink) const {
    return split(text, sink);
  }
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

enum class CutKind { kInside, kGone, kAlone };

// The common form of a pre-tokenizer: `kind_of(code point)` says whether a character is inside a word, ends one and is
// dropped, or is a word by itself.
template <class KindOf>
bool cut_words(std::string_view text, WordSink& sink, KindOf kind_of) {
  const char* p = text.data();
  std::size_t begin = 0;
  const auto give = [&](std::size_t end) {
    return begin == end || sink.word({text.substr(begin, end - begin), begin, end});
  };
  for (std::size_t at = 0; at < text.size();) {
    const CutKind kind = kind_of(core::decode_utf8(p));
    const std::size_t next = static_cast<std::size_t>(p - text.data());
    if (kind != CutKind::kInside) {
      if (!give(at)) return false;
      begin = kind == CutKind::kGone ? next : at;
      if (!give(next)) return false;
      begin = next;
    }
    at = next;
  }
  return give(text.size());
}

}  // namespace latebind::embedding
