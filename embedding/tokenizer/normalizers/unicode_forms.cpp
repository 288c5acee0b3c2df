// NFC, NFD, NFKC and NFKD: Unicode's normalization forms (UAX #15), decomposed or composed, canonical or for
// compatibility; and StripAccents, which leaves out marks.
#include <algorithm>
#include <vector>

#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

// What says of most code points that they stay as they are.
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
};

// Writes decomposed characters in canonical order, as they are or composed.
class FormWriter {
 public:
  FormWriter(TextRewriter& text, bool composes) : text_(text), composes_(composes) {}

  void add(char32_t c, std::uint8_t combining_class) {
    if (combining_class != 0) {
      marks_.push_back({c, combining_class});
      return;
    }
    end_marks();
    put(c, 0);
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
      put(mark.c, mark.combining_class);
    marks_.clear();
  }

  void put(char32_t c, std::uint8_t combining_class) {
    if (!composes_ || (!has_starter_ && combining_class != 0)) {
      text_.write(c);
      return;
    }
    // A mark of the same class or a higher one stands between, or any mark before a starter.
    const bool is_blocked = !behind_.empty() && behind_.back().combining_class >= combining_class;
    if (has_starter_ && !is_blocked) {
      if (const char32_t composed = unicode::compose(starter_, c); composed != 0) {
        starter_ = composed;
        return;
      }
    }
    if (combining_class != 0) {
      behind_.push_back({c, combining_class});
      return;
    }
    write_starter();
    starter_ = c;
    has_starter_ = true;
  }

  void write_starter() {
    if (has_starter_) text_.write(starter_);
    has_starter_ = false;
    for (const ClassedChar& mark : behind_)
      text_.write(mark.c);
    behind_.clear();
  }

  TextRewriter& text_;
  const bool composes_;
  std::vector<ClassedChar> marks_;   // not in order yet
  std::vector<ClassedChar> behind_;  // in order, and not composed with the starter
  char32_t starter_ = 0;
  bool has_starter_ = false;
};

class UnicodeForm final : public Normalizer {
 public:
  UnicodeForm(bool composes, bool is_compatible) : composes_(composes), is_compatible_(is_compatible) {}

  // For compatibility, 3 bytes become 33 (U+FDFA).
  std::size_t growth() const override { return is_compatible_ ? 11 : 3; }
  void rewrite(TextRewriter& text) const override {
    const CharForms& forms = CharForms::shared();
    FormWriter writer(text, composes_);
    while (!text.at_end()) {
      const char32_t c = text.read();
      const CharForm form = forms.of(c);
      if (is_compatible_ ? !form.decomposes_compatibly : !form.decomposes) {
        writer.add(c, form.combining_class);
      } else if (is_compatible_) {
        for (const char32_t part : unicode::decompose_compatibly(c))
          writer.add(part, forms.of(part).combining_class);
      } else {
        for (const char32_t part : unicode::decompose(c))
          writer.add(part, forms.of(part).combining_class);
      }
    }
    writer.end();
  }

 private:
  const bool composes_;
  const bool is_compatible_;
};

class StripAccents final : public Normalizer {
 public:
  std::size_t growth() const override { return 1; }
  void rewrite(TextRewriter& text) const override {
    while (!text.at_end()) {
      const char32_t c = text.read();
      if ((unicode::properties(c) & unicode::kMark) == 0) text.write(c);
    }
  }
};

core::Result<NormalizerPtr> read_unicode_form(const JsonView& view, bool composes, bool is_compatible) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return NormalizerPtr(std::make_unique<UnicodeForm>(composes, is_compatible));
}

}  // namespace

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
