// Hand-written matchers for the expressions of most byte-level tokenizers.
//
// Each splits a text into words without gaps. Immutable, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text/utf8.h"
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/patterns/pattern.h"

namespace latebind::embedding {

// The matcher for this expression, or null.
[[nodiscard]] PatternPtr known_pattern(std::string_view expression);

// The kinds of characters that these expressions distinguish.
enum class WordCharKind : std::uint8_t { kOther, kLetter, kNumber, kSpace, kLineBreak };
[[nodiscard]] WordCharKind word_char_kind(char32_t c);

// A text, seen as kinds of characters.
class WordChars {
 public:
  struct Run {
    std::size_t last;  // position of the last character; 0 if the run is empty
    std::size_t end;
  };

  explicit WordChars(std::string_view text) : kinds_(Kinds::shared()), text_(text) {}

  [[nodiscard]] std::string_view text() const { return text_; }
  // The kind of the character at `at`; moves `at` past it.
  [[nodiscard]] WordCharKind read(std::size_t& at) const {
    const char* p = text_.data() + at;
    const WordCharKind kind = kinds_.of(core::decode_utf8(p));
    at = static_cast<std::size_t>(p - text_.data());
    return kind;
  }
  // The characters from `at` on for whose kind `belongs` returns true, at most `most`.
  template <class Belongs>
  [[nodiscard]] Run run(std::size_t at, Belongs belongs, std::size_t most = static_cast<std::size_t>(-1)) const {
    std::size_t last = 0;
    for (; at < text_.size() && most > 0; --most) {
      std::size_t next = at;
      if (!belongs(read(next))) break;
      last = at;
      at = next;
    }
    return {last, at};
  }

 private:
  using Kinds = CodePointTable<WordCharKind, word_char_kind>;

  const Kinds& kinds_;
  const std::string_view text_;
};

// The words of GPT-2's expression:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
class Gpt2Words {
 public:
  explicit Gpt2Words(std::string_view text) : chars_(text) {}
  // The end of the word that begins at `begin`, which is before the end of the text.
  [[nodiscard]] std::size_t end_of_word(std::size_t begin) const;

 private:
  [[nodiscard]] std::size_t short_form(std::size_t at) const;

  const WordChars chars_;
};

// The words of the expression of Llama 3 and, with one number a word, of Qwen:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
class LlamaWords {
 public:
  LlamaWords(std::string_view text, std::size_t numbers_max) : chars_(text), numbers_max_(numbers_max) {}
  [[nodiscard]] std::size_t end_of_word(std::size_t begin) const;

 private:
  [[nodiscard]] std::size_t short_form(std::size_t at) const;
  [[nodiscard]] std::size_t end_of_space(std::size_t begin) const;

  const WordChars chars_;
  const std::size_t numbers_max_;
};

}  // namespace latebind::embedding
