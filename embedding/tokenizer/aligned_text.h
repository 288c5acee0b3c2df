// AlignedText: a text on its way through the normalizers, with the original character that each of its bytes stands
// for.
//
// The account is the reference's: a changed text is read as its characters in order, each of which replaces the next
// one of the text before it, or is added behind it, or takes others away with it. So a byte always stands for one
// character of the original text, and these never go back. A value; one thread.
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
  // A text that nothing has changed yet, which stands at `place` of the original text. Must be well-formed UTF-8.
  AlignedText(std::string_view text, std::size_t place) : text_(text) {
    origins_.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i)
      origins_.push_back(core::is_utf8_continuation(text[i]) ? origins_.back() : place + i);
  }

  [[nodiscard]] std::string_view text() const { return text_; }
  // Where the character begins, in bytes of the original text, that the byte at `at` stands for.
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
  // The bytes of `from` from `begin` to `end`, as they are there.
  void append(const AlignedText& from, std::size_t begin, std::size_t end) {
    text_.append(from.text(), begin, end - begin);
    origins_.insert(origins_.end(), from.origins_.begin() + static_cast<std::ptrdiff_t>(begin),
                    from.origins_.begin() + static_cast<std::ptrdiff_t>(end));
  }

 private:
  std::string text_;
  std::vector<std::size_t> origins_;  // of each byte
};

// Calls visit(code point, origin) for every character.
template <class Visit>
void for_each_char(const AlignedText& text, Visit visit) {
  const char* const begin = text.text().data();
  for (const char* p = begin; p != begin + text.text().size();) {
    const std::size_t origin = text.origin(static_cast<std::size_t>(p - begin));
    visit(core::decode_utf8(p), origin);
  }
}

// Makes a text of another one by the characters that it has now, in order.
class AlignedChanges {
 public:
  // `from` must outlive it.
  explicit AlignedChanges(const AlignedText& from) : from_(from) {}

  // `change`: 0: c stands for the next character of the old text; 1: for the one before that, behind which it was
  // added; less: for the next one, and so many behind it are gone.
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
