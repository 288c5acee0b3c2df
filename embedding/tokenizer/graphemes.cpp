#include "embedding/tokenizer/graphemes.h"

#include "core/text/utf8.h"
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

using unicode::GraphemeClass;
using GraphemeClasses = CodePointTable<GraphemeClass, unicode::grapheme_class>;

bool is_line_or_control(GraphemeClass kind) {
  return kind == GraphemeClass::kCr || kind == GraphemeClass::kLf || kind == GraphemeClass::kControl;
}

// One grapheme, read character by character. The rules have the numbers of UAX #29.
class GraphemeRules {
 public:
  explicit GraphemeRules(GraphemeClass first) { take(first); }

  // Whether the grapheme continues with this character, which then becomes a part of it.
  bool goes_on_with(GraphemeClass next) {
    const bool goes_on = joins(next);
    take(next);
    return goes_on;
  }

 private:
  [[nodiscard]] bool joins(GraphemeClass next) const {
    if (last_ == GraphemeClass::kCr && next == GraphemeClass::kLf) return true;  // GB3
    if (is_line_or_control(last_) || is_line_or_control(next)) return false;     // GB4, GB5
    switch (next) {
      case GraphemeClass::kExtend:  // GB9, GB9a
      case GraphemeClass::kLinker:
      case GraphemeClass::kExtendApart:
      case GraphemeClass::kZwj:
      case GraphemeClass::kSpacingMark:
        return true;
      default:
        break;
    }
    if (last_ == GraphemeClass::kPrepend) return true;  // GB9b
    switch (next) {
      case GraphemeClass::kL:  // GB6
      case GraphemeClass::kLv:
      case GraphemeClass::kLvt:
        return last_ == GraphemeClass::kL;
      case GraphemeClass::kV:  // GB6, GB7
        return last_ == GraphemeClass::kL || last_ == GraphemeClass::kLv || last_ == GraphemeClass::kV;
      case GraphemeClass::kT:  // GB7, GB8
        return last_ == GraphemeClass::kLv || last_ == GraphemeClass::kV || last_ == GraphemeClass::kLvt ||
               last_ == GraphemeClass::kT;
      case GraphemeClass::kConsonant:  // GB9c
        return conjunct_ == Conjunct::kLinked;
      case GraphemeClass::kPictographic:  // GB11
        return pictograph_ == Pictograph::kJoined;
      default:
        return false;
    }
  }

  void take(GraphemeClass next) {
    if (next == GraphemeClass::kConsonant) {
      conjunct_ = Conjunct::kConsonant;
    } else if (next == GraphemeClass::kLinker) {
      if (conjunct_ == Conjunct::kConsonant) conjunct_ = Conjunct::kLinked;
    } else if (next != GraphemeClass::kExtend && next != GraphemeClass::kZwj) {
      conjunct_ = Conjunct::kNone;
    }
    const bool extends =
        next == GraphemeClass::kExtend || next == GraphemeClass::kLinker || next == GraphemeClass::kExtendApart;
    if (next == GraphemeClass::kPictographic) {
      pictograph_ = Pictograph::kSeen;
    } else if (next == GraphemeClass::kZwj && pictograph_ == Pictograph::kSeen) {
      pictograph_ = Pictograph::kJoined;
    } else if (!extends || pictograph_ == Pictograph::kJoined) {
      pictograph_ = Pictograph::kNone;
    }
    last_ = next;
  }

  enum class Conjunct { kNone, kConsonant, kLinked };
  enum class Pictograph { kNone, kSeen, kJoined };

  GraphemeClass last_ = GraphemeClass::kPlain;
  Conjunct conjunct_ = Conjunct::kNone;
  Pictograph pictograph_ = Pictograph::kNone;
};

}  // namespace

std::size_t end_of_grapheme(std::string_view text, std::size_t begin) {
  const GraphemeClasses& classes = GraphemeClasses::shared();
  const char* p = text.data() + begin;
  const char* const end = text.data() + text.size();
  GraphemeRules rules(classes.of(core::decode_utf8(p)));
  while (p != end) {
    const char* next = p;
    if (!rules.goes_on_with(classes.of(core::decode_utf8(next)))) break;
    p = next;
  }
  return static_cast<std::size_t>(p - text.data());
}

}  // namespace latebind::embedding
