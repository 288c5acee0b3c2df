#include "embedding/tokenizer/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace latebind::embedding::unicode {
namespace {

struct PropertyFlip {
  char32_t first;
  char32_t last;
  std::uint8_t bits;
};
struct LowerCase {
  char32_t from;
  char32_t to;
};
struct CombiningClass {
  char32_t first;
  char32_t last;
  std::uint8_t value;
};
struct CodePointRange {
  char32_t first;
  char32_t last;
};
struct GraphemeRange {
  char32_t first;
  char32_t last;
  GraphemeClass value;
};

struct CategoryRange {
  char32_t first;
  char32_t last;
  std::uint8_t value;  // utf8proc's number
};
struct ScriptRange {
  char32_t first;
  char32_t last;
  std::uint8_t value;
};

#include "embedding/tokenizer/unicode_patterns.inc.h"
#include "embedding/tokenizer/unicode_reference.inc.h"

// By utf8proc's numbers.
constexpr std::string_view kCategoryNames[] = {"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
                                               "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
                                               "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};

// The range of a sorted table that contains c, or null.
template <class Table>
auto find_range(const Table& table, char32_t c) -> decltype(std::begin(table)) {
  auto it = std::upper_bound(std::begin(table), std::end(table), c,
                             [](char32_t value, const auto& range) { return value < range.first; });
  if (it == std::begin(table)) return nullptr;
  --it;
  return c <= it->last ? it : nullptr;
}

constexpr bool between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

constexpr bool is_ascii_symbol(char32_t c) {
  return c == '$' || c == '+' || between(c, '<', '>') || c == '^' || c == '`' || c == '|' || c == '~';
}

std::uint8_t properties_by_utf8proc(char32_t c) {
  const int category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  unsigned bits = 0;
  if (category >= UTF8PROC_CATEGORY_CC) bits |= kOther;
  if (between(c, 9, 13) || c == 0x85 || (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP)) {
    bits |= kWhitespace;
  }
  if (is_ascii_symbol(c) || (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO)) {
    bits |= kPunctuation;
  }
  if (category == UTF8PROC_CATEGORY_MN) bits |= kNonspacing;
  const bool word_by_category = (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_ME) ||
                                category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
                                category == UTF8PROC_CATEGORY_PC;
  // Join controls, and the letters in circles and squares, which are alphabetic symbols.
  if (word_by_category || c == 0x200C || c == 0x200D || between(c, 0x24B6, 0x24E9) || between(c, 0x1F130, 0x1F149) ||
      between(c, 0x1F150, 0x1F169) || between(c, 0x1F170, 0x1F189)) {
    bits |= kWordCharacter;
  }
  if (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME) bits |= kMark;
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) bits |= kLetter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) bits |= kNumber;
  return static_cast<std::uint8_t>(bits);
}

}  // namespace

std::uint8_t properties(char32_t c) {
  std::uint8_t bits = properties_by_utf8proc(c);
  if (const auto* flip = find_range(kPropertyFlips, c)) bits ^= flip->bits;
  return bits;
}

std::string_view category(char32_t c) {
  const auto* const exception = find_range(kCategories, c);
  if (exception != nullptr) return kCategoryNames[exception->value];
  return kCategoryNames[utf8proc_category(static_cast<utf8proc_int32_t>(c))];
}

std::uint8_t script(char32_t c) {
  const auto* const range = find_range(kScripts, c);
  return range != nullptr ? range->value : kAnyScript;
}

bool is_chinese(char32_t c) {
  // The sixth block begins at U+2B820; the reference begins it at U+2B920, and so does this function.
  return between(c, 0x4E00, 0x9FFF) || between(c, 0x3400, 0x4DBF) || between(c, 0x20000, 0x2A6DF) ||
         between(c, 0x2A700, 0x2B73F) || between(c, 0x2B740, 0x2B81F) || between(c, 0x2B920, 0x2CEAF) ||
         between(c, 0xF900, 0xFAFF) || between(c, 0x2F800, 0x2FA1F);
}

std::uint8_t combining_class(char32_t c) {
  if (const auto* exception = find_range(kCombiningClasses, c)) return exception->value;
  return static_cast<std::uint8_t>(utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class);
}

GraphemeClass grapheme_class(char32_t c) {
  if (const auto* exception = find_range(kGraphemeClasses, c)) return exception->value;
  switch (utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass) {
    case UTF8PROC_BOUNDCLASS_CR:
      return GraphemeClass::kCr;
    case UTF8PROC_BOUNDCLASS_LF:
      return GraphemeClass::kLf;
    case UTF8PROC_BOUNDCLASS_CONTROL:
      return GraphemeClass::kControl;
    case UTF8PROC_BOUNDCLASS_EXTEND:
      return GraphemeClass::kExtend;
    case UTF8PROC_BOUNDCLASS_L:
      return GraphemeClass::kL;
    case UTF8PROC_BOUNDCLASS_V:
      return GraphemeClass::kV;
    case UTF8PROC_BOUNDCLASS_T:
      return GraphemeClass::kT;
    case UTF8PROC_BOUNDCLASS_LV:
      return GraphemeClass::kLv;
    case UTF8PROC_BOUNDCLASS_LVT:
      return GraphemeClass::kLvt;
    case UTF8PROC_BOUNDCLASS_SPACINGMARK:
      return GraphemeClass::kSpacingMark;
    case UTF8PROC_BOUNDCLASS_PREPEND:
      return GraphemeClass::kPrepend;
    case UTF8PROC_BOUNDCLASS_ZWJ:
      return GraphemeClass::kZwj;
    case UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC:
    case UTF8PROC_BOUNDCLASS_E_ZWG:
      return GraphemeClass::kPictographic;
    default:
      return GraphemeClass::kPlain;
  }
}

Sequence decompose(char32_t c) {
  if (std::find(std::begin(kUndecomposed), std::end(kUndecomposed), c) == std::end(kUndecomposed)) {
    std::array<utf8proc_int32_t, 8> buffer{};
    int last_boundary_class = 0;
    const utf8proc_ssize_t size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer.data(),
                                                          buffer.size(), UTF8PROC_DECOMPOSE, &last_boundary_class);
    Sequence sequence;
    if (size > 0 && size <= static_cast<utf8proc_ssize_t>(sequence.data.size())) {
      sequence.size = static_cast<std::size_t>(size);
      std::transform(buffer.begin(), buffer.begin() + size, sequence.data.begin(),
                     [](utf8proc_int32_t part) { return static_cast<char32_t>(part); });
      return sequence;
    }
  }
  return {{c}, 1};
}

std::vector<char32_t> decompose_compatibly(char32_t c) {
  if (find_range(kNotCompatible, c) == nullptr) {
    std::array<utf8proc_int32_t, 32> buffer{};
    int last_boundary_class = 0;
    const utf8proc_ssize_t size = utf8proc_decompose_char(
        static_cast<utf8proc_int32_t>(c), buffer.data(), buffer.size(),
        static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT), &last_boundary_class);
    if (size > 0 && size <= static_cast<utf8proc_ssize_t>(buffer.size()))
      return {buffer.begin(), buffer.begin() + size};
  }
  const Sequence canonical = decompose(c);
  return {canonical.begin(), canonical.end()};
}

namespace {

// Hangul vowels and trailing consonants, which are composed by arithmetic.
bool is_composed_in_hangul(char32_t c) {
  return between(c, 0x1161, 0x1175) || between(c, 0x11A8, 0x11C2);
}

}  // namespace

bool may_be_composed(char32_t c) {
  constexpr unsigned kNone = 0xFFFF;
  constexpr unsigned kSecond = 0x8000;
  const unsigned index = utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->comb_index;
  return is_composed_in_hangul(c) || (index != kNone && index >= kSecond);
}

char32_t compose(char32_t first, char32_t second) {
  if (!may_be_composed(second)) return 0;
  std::array<utf8proc_int32_t, 3> both{static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
  const utf8proc_ssize_t size =
      utf8proc_normalize_utf32(both.data(), 2, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  const auto composed = static_cast<char32_t>(both[0]);
  const bool is_newer =
      std::find(std::begin(kUndecomposed), std::end(kUndecomposed), composed) != std::end(kUndecomposed);
  return size == 1 && !is_newer ? composed : 0;
}

Sequence lower_case(char32_t c) {
  if (c == 0x130) return {{U'i', 0x307}, 2};  // the only code point whose lower case is longer
  const auto* const end = std::end(kLowerCases);
  const auto* const found = std::lower_bound(std::begin(kLowerCases), end, c,
                                             [](const LowerCase& entry, char32_t value) { return entry.from < value; });
  if (found != end && found->from == c) return {{found->to}, 1};
  return {{static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)))}, 1};
}

}  // namespace latebind::embedding::unicode
