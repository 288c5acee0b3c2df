// Splits a text in one walk into the words that BertNormalizer and BertPreTokenizer produce. Stateless; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "core/text/utf8.h"
#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/normalized_walk.h"

namespace latebind::embedding {

// Builds one word after the other, up to `chars_max` code points. Of a longer word, only its length is known to be too
// great.
class WordBuffer {
 public:
  // The buffer is written before it is read; clearing it would take longer than most words.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  explicit WordBuffer(std::size_t chars_max) : chars_max_(chars_max) {
    if (chars_max * 4 > inline_.size()) heap_ = std::make_unique_for_overwrite<char[]>(chars_max * 4);
    data_ = heap_ == nullptr ? inline_.data() : heap_.get();
  }
  WordBuffer(const WordBuffer&) = delete;
  WordBuffer& operator=(const WordBuffer&) = delete;

  void add(char32_t c) {
    if (chars_ >= chars_max_) {
      too_long_ = true;
      return;
    }
    ++chars_;
    core::encode_utf8(c, [this](char byte) { data_[size_++] = byte; });
  }
  [[nodiscard]] bool empty() const { return chars_ == 0 && !too_long_; }
  [[nodiscard]] bool too_long() const { return too_long_; }
  [[nodiscard]] std::string_view text() const { return {data_, size_}; }
  [[nodiscard]] std::size_t chars_max() const { return chars_max_; }
  void clear() {
    size_ = 0;
    chars_ = 0;
    too_long_ = false;
  }

 private:
  const std::size_t chars_max_;
  std::array<char, 512> inline_;
  std::unique_ptr<char[]> heap_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t chars_ = 0;
  bool too_long_ = false;
};

// Calls on_word(text, too_long) for each word of `text`, in order. Stops and returns false if on_word does. `word` is
// scratch memory.
template <class OnWord>
bool for_each_word(std::string_view text, const CharMap& map, WordBuffer& word, OnWord on_word) {
  struct Splitter {
    WordBuffer& word;
    OnWord& on_word;

    bool finish() {
      if (word.empty()) return true;
      const bool go_on = on_word(word.text(), word.too_long());
      word.clear();
      return go_on;
    }
    bool visit(CharKind kind, char32_t c) {
      if (kind == CharKind::kLetter) {
        word.add(c);
        return true;
      }
      if (!finish()) return false;
      if (kind == CharKind::kSpace) return true;
      word.add(c);
      return finish();
    }
  } splitter{word, on_word};
  word.clear();
  // One more mark than a word may have is enough to see that it is too long.
  return walk_normalized(text, map, word.chars_max() + 1, splitter) && splitter.finish();
}

}  // namespace latebind::embedding
