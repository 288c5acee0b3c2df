// PreTokenizer: the second part of a tokenizer, which splits the normalized text into words.
//
// One file for each in pre_tokenizers/; part_table.h has them by name. Immutable, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"

namespace latebind::embedding {

// Where the bytes of a word that is not as the text has it stand in the text; asked only by those who want offsets.
class WordPlaces {
 public:
  WordPlaces() = default;
  WordPlaces(const WordPlaces&) = delete;
  WordPlaces& operator=(const WordPlaces&) = delete;
  virtual ~WordPlaces() = default;

  // Appends for each byte of the word a byte of the character in the text that it stands for.
  virtual void append_to(std::vector<std::size_t>& places) const = 0;
};

struct Word {
  std::string_view text;  // not empty; until the sink returns
  // The bytes of the text that it represents.
  std::size_t begin;
  std::size_t end;
  const WordPlaces* places = nullptr;  // null: it is as the text has it; until the sink returns
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

  // How many times as long as the text its words can be at most, apart from what is added to each of them.
  [[nodiscard]] virtual std::size_t growth() const { return 1; }
  // Whether words are other than they are in the text.
  [[nodiscard]] virtual bool rewrites() const { return false; }
  // Whether words depend on what stands at the very beginning, before all normalizing.
  [[nodiscard]] virtual bool needs_origin() const { return false; }
  // Stops and returns false when the sink does. `text` must be well-formed UTF-8.
  virtual bool split(std::string_view text, WordSink& sink) const = 0;
  // The same; the first `origin` bytes stand for the first character (see TextRewriter).
  virtual bool split_from(std::string_view text, std::size_t /*origin*/, WordSink& sink) const {
    return split(text, sink);
  }
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

enum class CutKind { kInside, kGone, kAlone };

// What most pre-tokenizers do: `kind_of(code point)` says whether it is inside a word, ends one and is dropped, or is a
// word of its own.
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
