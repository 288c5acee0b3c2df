// Walks over a text in the form that BertNormalizer produces, without storing that form.
//
// Code points are normalized on the fly with a CharMap. The additional memory is one run of combining marks. Stateless
// functions; any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"
#include "embedding/tokenizer/char_map.h"

namespace latebind::embedding {

// Puts combining marks in canonical order.
class MarkRun {
 public:
  // Letters beyond `letters_max` in one run are dropped, for callers that treat all words of that length alike.
  explicit MarkRun(std::size_t letters_max) : letters_max_(letters_max) {}

  [[nodiscard]] bool empty() const { return marks_.empty(); }
  void add(const CharMap::Part& mark) {
    if (marks_.size() < letters_max_ || mark.kind != CharKind::kLetter) marks_.push_back(mark);
  }
  // The marks in canonical order; the caller clears the run.
  const std::vector<CharMap::Part>& sorted() {
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const auto& a, const auto& b) { return a.combining_class < b.combining_class; });
    return marks_;
  }
  void clear() { marks_.clear(); }

 private:
  std::size_t letters_max_;
  std::vector<CharMap::Part> marks_;
};

// Calls visitor.visit(kind, code_point) for every code point of the normalized text; the kinds are kLetter, kSpace,
// kPunctuation and kIdeograph. Stops and returns false if visit does. `text` must be well-formed UTF-8; see MarkRun for
// `mark_letters_max`.
template <class Visitor>
bool walk_normalized(std::string_view text, const CharMap& map, std::size_t mark_letters_max, Visitor& visitor) {
  const char* p = text.data();
  const char* const end = p + text.size();
  MarkRun marks(mark_letters_max);

  const auto deliver_marks = [&] {
    bool go_on = true;
    for (const auto& mark : marks.sorted())
      go_on = go_on && visitor.visit(mark.kind, mark.code_point);
    marks.clear();
    return go_on;
  };
  const auto take_parts = [&](char32_t c) {
    for (const auto& part : map.parts(c)) {
      if (part.combining_class != 0) {
        marks.add(part);
      } else if (!deliver_marks() || !visitor.visit(part.kind, part.code_point)) {
        return false;
      }
    }
    return true;
  };

  while (p != end) {
    const auto byte = static_cast<unsigned char>(*p);
    char32_t c = byte;
    CharMap::Entry entry;
    if (byte < 0x80) {
      ++p;
      entry = map.lookup_ascii(byte);
    } else {
      c = core::decode_utf8(p);
      entry = map.lookup(c);
    }
    if (entry.kind() < CharKind::kDropped) {
      if (!visitor.visit(entry.kind(), entry.code_point())) return false;
    } else if (entry.kind() == CharKind::kSequence) {
      if (!take_parts(c)) return false;
      // A run of marks ends at the next code point that does not begin with a mark; dropped code points do not end it.
      while (!marks.empty() && p != end) {
        const char* next = p;
        c = core::decode_utf8(next);
        entry = map.lookup(c);
        if (entry.kind() < CharKind::kDropped) break;
        p = next;
        if (entry.kind() == CharKind::kSequence && !take_parts(c)) return false;
      }
      if (!deliver_marks()) return false;
    }
  }
  return true;
}

}  // namespace latebind::embedding
