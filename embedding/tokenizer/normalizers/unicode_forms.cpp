// NFC, NFD, NFKC and NFKD: Unicode's normalization forms (UAX #15), decomposed or composed, canonical or compatible;
// and StripAccents, which removes marks.
#include "embedding/tokenizer/normalizers/unicode_forms.h"

#include <algorithm>
#include <vector>

#include "core/text/utf8.h"
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

// Shows for most code points that they stay unchanged.
struct CharForm {
  std::uint8_t combining_class = 0;
  bool decomposes = false;
  bool decomposes_compatibly = false;
};

CharForm compute_char_form(char32_t c) {
  const unicode::Sequence canonical = unicode::decompose(c);
  const std::vector<char32_t> compatible = unicode::decompose_compatibly(c);
  return {unicode::combining_class(c), canonical.size != 1 || canonical.data[0] != c,
          compatible.size() != 1 || compatible[0] != c};
}

using CharForms = CodePointTable<CharForm, compute_char_form>;

struct ClassedChar {
  char32_t c;
  std::uint8_t combining_class;
  bool is_added;  // not the first code point of a decomposition
};

// A text without tracking of its changes.
class PlainForm {
 public:
  explicit PlainForm(TextRewriter& text) : text_(text) {}
  void write(char32_t c, std::ptrdiff_t /*change*/) { text_.write(c); }

 private:
  TextRewriter& text_;
};

// Writes decomposed characters in canonical order, composed or not. `Text` is PlainForm or AlignedChanges.
template <class Text>
class FormWriter {
 public:
  FormWriter(Text& text, bool composes) : text_(text), composes_(composes) {}

  void add(const ClassedChar& next) {
    if (next.combining_class != 0) {
      marks_.push_back(next);
      return;
    }
    end_marks();
    put(next);
  }
  void end() {
    end_marks();
    write_starter();
  }

 private:
  void end_marks() {
    if (marks_.empty()) return;
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const ClassedChar& a, const ClassedChar& b) { return a.combining_class < b.combining_class; });
    for (const ClassedChar& mark : marks_)
      put(mark);
    marks_.clear();
  }

  void put(const ClassedChar& next) {
    if (!composes_ || (!has_starter_ && next.combining_class != 0)) {
      text_.write(next.c, next.is_added ? 1 : 0);
      return;
    }
    // A mark of the same or a higher class is in between, or any mark precedes a starter.
    const bool is_blocked = !behind_.empty() && behind_.back().combining_class >= next.combining_class;
    if (has_starter_ && !is_blocked) {
      if (const char32_t composed = unicode::compose(starter_, next.c); composed != 0) {
        starter_ = composed;
        starter_change_ -= next.is_added ? 0 : 1;
        return;
      }
    }
    if (next.combining_class != 0) {
      behind_.push_back(next);
      return;
    }
    write_starter();
    starter_ = next.c;
    starter_change_ = next.is_added ? 1 : 0;
    has_starter_ = true;
  }

  void write_starter() {
    if (has_starter_) text_.write(starter_, starter_change_);
    has_starter_ = false;
    for (const ClassedChar& mark : behind_)
      text_.write(mark.c, mark.is_added ? 1 : 0);
    behind_.clear();
  }

  Text& text_;
  const bool composes_;
  std::vector<ClassedChar> marks_;   // not sorted yet
  std::vector<ClassedChar> behind_;  // sorted, and not composed with the starter
  char32_t starter_ = 0;
  std::ptrdiff_t starter_change_ = 0;
  bool has_starter_ = false;
};

class UnicodeForm final : public Normalizer {
 public:
  UnicodeForm(bool composes, bool is_compatible) : composes_(composes), is_compatible_(is_compatible) {}

  // Compatible forms turn 3 bytes into up to 33 (U+FDFA).
  std::size_t growth() const override { return is_compatible_ ? 11 : 3; }
  void rewrite(TextRewriter& text) const override {
    const std::string_view rest = text.read_rest();
    PlainForm plain(text);
    write(rest, plain);
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedChanges changes(text);
    write(text.text(), changes);
    return changes.take();
  }

 private:
  template <class Text>
  void write(std::string_view text, Text& made) const {
    const CharForms& forms = CharForms::shared();
    FormWriter writer(made, composes_);
    for (const char* p = text.data(); p != text.data() + text.size();) {
      const char32_t c = core::decode_utf8(p);
      const CharForm form = forms.of(c);
      bool is_added = false;
      const auto add = [&](char32_t part) {
        writer.add({part, forms.of(part).combining_class, is_added});
        is_added = true;
      };
      if (is_compatible_ ? !form.decomposes_compatibly : !form.decomposes) {
        writer.add({c, form.combining_class, false});
      } else if (is_compatible_) {
        for (const char32_t part : unicode::decompose_compatibly(c))
          add(part);
      } else {
        for (const char32_t part : unicode::decompose(c))
          add(part);
      }
    }
    writer.end();
  }

  const bool composes_;
  const bool is_compatible_;
};

class StripAccents final : public Normalizer {
 public:
  std::size_t growth() const override { return 1; }
  void rewrite(TextRewriter& text) const override {
    while (!text.at_end()) {
      const char32_t c = text.read();
      if (!is_mark(c)) text.write(c);
    }
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedText kept;
    for_each_char(text, [&kept](char32_t c, std::size_t origin) {
      if (!is_mark(c)) kept.append(c, origin);
    });
    return kept;
  }

 private:
  static bool is_mark(char32_t c) { return (unicode::properties(c) & unicode::kMark) != 0; }
};

core::Result<NormalizerPtr> read_unicode_form(const JsonView& view, bool composes, bool is_compatible) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<UnicodeForm>(composes, is_compatible));
}

}  // namespace

AlignedText decompose_aligned(const AlignedText& text) {
  return UnicodeForm(false, false).align(text);
}

core::Result<NormalizerPtr> read_nfc(const JsonView& view) {
  return read_unicode_form(view, true, false);
}

core::Result<NormalizerPtr> read_nfd(const JsonView& view) {
  return read_unicode_form(view, false, false);
}

core::Result<NormalizerPtr> read_nfkc(const JsonView& view) {
  return read_unicode_form(view, true, true);
}

core::Result<NormalizerPtr> read_nfkd(const JsonView& view) {
  return read_unicode_form(view, false, true);
}

core::Result<NormalizerPtr> read_strip_accents(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<StripAccents>());
}

}  // namespace latebind::embedding
