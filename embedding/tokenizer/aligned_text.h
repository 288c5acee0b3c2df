// AlignedText: a text during normalization, with the original character that each of its bytes represents.
//
// The mapping is the reference's. A normalizer writes the characters of its result in order: each one replaces the next
// character of the previous text, is added after it, or removes some characters that follow. Therefore a byte always
// represents exactly one character of the original text, and the characters never go backwards. A value; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/utf8.h"

namespace latebind::embedding {

class AlignedText {
 public:
  AlignedText() = default;
  // An unchanged text, which begins at `place` of the original text. Must be well-formed UTF-8.
  AlignedText(std::string_view text, std::size_t place) : text_(text) {
    origins_.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
      origins_.push_back(core::is_utf8_continuation(text[i]) ? origins_.back() : place + i);
  }

  [[nodiscard]] std::string_view text() const { return text_; }
  // The position, in bytes of the original text, of the character that the byte at `at` represents.
  [[nodiscard]] std::size_t origin(std::size_t at) const { return origins_[at]; }

  void append(char32_t c, std::size_t origin) {
    core::encode_utf8(c, [&](char byte) {
      text_.push_back(byte);
      origins_.push_back(origin);
    });
  }
  void append(std::string_view text, std::size_t origin) {
    text_.append(text);
    origins_.resize(text_.size(), origin);
  }
  // Appends the bytes `begin` to `end` of `from`, with their origins.
  void append(const AlignedText& from, std::size_t begin, std::size_t end) {
    text_.append(from.text(), begin, end - begin);
    origins_.insert(origins_.end(), from.origins_.begin() + static_cast<std::ptrdiff_t>(begin),
                    from.origins_.begin() + static_cast<std::ptrdiff_t>(end));
  }

 private:
  std::string text_;
  std::vector<std::size_t> origins_;  // of each byte
};

// Calls visit(code point, origin) for each character.
template <class Visit>
void for_each_char(const AlignedText& text, Visit visit) {
  const char* const begin = text.text().data();
  for (const char* p = begin; p != begin + text.text().size();) {
    const std::size_t origin = text.origin(static_cast<std::size_t>(p - begin));
    visit(core::decode_utf8(p), origin);
  }
}

// Makes a text from another one by writing its characters in order.
class AlignedChanges {
 public:
  // `from` must outlive this object.
  explicit AlignedChanges(const AlignedText& from) : from_(from) {}

  // Writes c. `change` is 0 if c represents the next character of the old text, and 1 if c was added after the previous
  // one. A negative number means that c represents the next character and that the -change characters after it are
  // removed.
  void write(char32_t c, std::ptrdiff_t change) {
    const std::size_t last = from_.text().size() - 1;
    made_.append(c, from_.origin(change > 0 ? std::max<std::size_t>(at_, 1) - 1 : std::min(at_, last)));
    for (; change <= 0 && at_ <= last; ++change) {
      const char* p = from_.text().data() + at_;
      core::decode_utf8(p);
      at_ = static_cast<std::size_t>(p - from_.text().data());
    }
  }
  [[nodiscard]] AlignedText take() { return std::move(made_); }

 private:
  const AlignedText& from_;
  std::size_t at_ = 0;  // in the old text
  AlignedText made_;
};

}  // namespace latebind::embedding
