#include "embedding/tokenizer/patterns/pattern_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/patterns/character_classes.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using NodeKind = PatternNode::Kind;
using Greed = PatternNode::Greed;

constexpr std::size_t kGroupDepthMax = 64;
constexpr std::size_t kTimesMax = 1000;
constexpr std::size_t kExpandedMax = 4096;
constexpr std::size_t kSetsMax = 250;

constexpr bool is_ascii_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_decimal_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

// Adjacent letters for which a single character exists as well (ß is ss, ﬁ is fi) when case is ignored.
bool may_be_ligature(char32_t first, char32_t second) {
  for (const std::string_view pair : {"ss", "st", "ff", "fi", "fl"}) {
    if (first == static_cast<unsigned char>(pair[0]) && second == static_cast<unsigned char>(pair[1])) return true;
  }
  return false;
}

class PatternReader {
 public:
  explicit PatternReader(std::string_view expression) : text_(expression) {}

  Result<PatternTree> read() {
    LB_ASSIGN_OR_RETURN(PatternNode root, read_alternatives());
    if (!at_end()) return refused("a ')' without its '('");
    if (root.size_min == 0) return refused("that it can match the empty text");
    PatternTree tree;
    tree.root = std::move(root);
    tree.sets.resize(sets_.size());
    for (auto& [set, place] : sets_)
      tree.sets[place] = set;
    tree.behind_max = behind_max_;
    return tree;
  }

 private:
  Status refused(const std::string& what) const {
    return {StatusCode::kUnsupported, fmt::format("{} (at byte {})", what, at_)};
  }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] bool is_next(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool accept(std::string_view what) {
    if (!is_next(what)) return false;
    at_ += what.size();
    return true;
  }
  char32_t take() {
    const char* p = text_.data() + at_;
    const char32_t c = core::decode_utf8(p);
    at_ = static_cast<std::size_t>(p - text_.data());
    return c;
  }

  // Nodes ------------------------------------------------------------------------------------------------------------

  static std::size_t sum(std::size_t a, std::size_t b) {
    return a > PatternNode::kNoEnd - b ? PatternNode::kNoEnd : a + b;
  }
  static std::size_t product(std::size_t a, std::size_t b) {
    return a != 0 && b > PatternNode::kNoEnd / a ? PatternNode::kNoEnd : a * b;
  }

  Result<PatternNode> character(CodePointSet set) {
    const auto [place, is_new] = sets_.try_emplace(std::move(set), sets_.size());
    if (sets_.size() > kSetsMax) return refused(fmt::format("more than {} different characters and classes", kSetsMax));
    PatternNode node;
    node.kind = NodeKind::kCharacter;
    node.set = place->second;
    node.size_min = node.size_max = node.expanded = 1;
    return node;
  }

  Result<PatternNode> read_alternatives() {
    if (++depth_ > kGroupDepthMax) return refused(fmt::format("more than {} groups in each other", kGroupDepthMax));
    PatternNode node;
    node.kind = NodeKind::kAlternatives;
    node.size_min = PatternNode::kNoEnd;
    do {
      LB_ASSIGN_OR_RETURN(PatternNode part, read_sequence());
      node.size_min = std::min(node.size_min, part.size_min);
      node.size_max = std::max(node.size_max, part.size_max);
      node.expanded = sum(node.expanded, part.expanded);
      node.parts.push_back(std::move(part));
    } while (accept("|"));
    --depth_;
    if (node.expanded > kExpandedMax) {
      return refused(fmt::format("more than {} characters and classes when repetitions are written out", kExpandedMax));
    }
    if (node.parts.size() == 1) return std::move(node.parts.front());
    return node;
  }

  Result<PatternNode> read_sequence() {
    PatternNode node;
    node.kind = NodeKind::kSequence;
    while (!at_end() && !is_next("|") && !is_next(")")) {
      LB_ASSIGN_OR_RETURN(PatternNode part, read_repeated());
      node.size_min = sum(node.size_min, part.size_min);
      node.size_max = sum(node.size_max, part.size_max);
      node.expanded = sum(node.expanded, part.expanded);
      node.parts.push_back(std::move(part));
    }
    if (node.parts.size() == 1) return std::move(node.parts.front());
    return node;
  }

  Result<PatternNode> read_repeated() {
    LB_ASSIGN_OR_RETURN(PatternNode part, read_atom());
    if (!begins_repetition()) return part;
    if (part.kind == NodeKind::kLook) return refused("a repetition of a lookahead or lookbehind");
    if (part.size_min == 0) return refused("a repetition of what can match the empty text");
    PatternNode node;
    node.kind = NodeKind::kRepeat;
    const bool is_interval = is_next("{");
    LB_RETURN_IF_ERROR(read_times(node));
    if (is_next("?")) {
      // After an interval, it is a second repetition.
      if (is_interval && node.times_min == node.times_max) return refused("a '?' after a fixed number of repetitions");
      accept("?");
      node.greed = Greed::kLazy;
    } else if (is_next("+")) {
      if (is_interval) return refused("a '+' after a number of repetitions");
      accept("+");
      node.greed = Greed::kPossessive;
    }
    if (begins_repetition()) return refused("a repetition of a repetition");
    if (part.kind == NodeKind::kRepeat && (part.greed != Greed::kGreedy || node.greed != Greed::kGreedy)) {
      return refused("a repetition of a repetition if one of them is not greedy");
    }
    node.size_min = product(part.size_min, node.times_min);
    node.size_max = product(part.size_max, node.times_max);
    const std::size_t written = node.times_max == PatternNode::kNoEnd ? node.times_min : node.times_max;
    node.expanded = product(part.expanded, std::max<std::size_t>(written, 1));
    node.parts.push_back(std::move(part));
    return node;
  }

  [[nodiscard]] bool begins_repetition() const { return is_next("*") || is_next("+") || is_next("?") || is_next("{"); }

  Status read_times(PatternNode& node) {
    node.times_max = PatternNode::kNoEnd;
    if (accept("*")) {
      node.times_min = 0;
    } else if (accept("+")) {
      node.times_min = 1;
    } else if (accept("?")) {
      node.times_min = 0;
      node.times_max = 1;
    } else {
      return read_interval(node);
    }
    return {};
  }

  // Reads {n}, {n,}, {n,m} or {,m}.
  Status read_interval(PatternNode& node) {
    const auto number = [this]() -> std::optional<std::size_t> {
      std::size_t value = 0;
      const std::size_t begin = at_;
      while (!at_end() && is_decimal_digit(static_cast<unsigned char>(text_[at_])) && at_ - begin < 6)
        value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
      return at_ > begin ? std::optional(value) : std::nullopt;
    };
    accept("{");
    const auto least = number();
    auto most = least;
    if (accept(",")) {
      most = number();
      if (!least && !most) return refused("a '{' without a number of repetitions");
      if (!most) most = PatternNode::kNoEnd;
    }
    if (!most || !accept("}")) return refused("a '{' without a number of repetitions");
    node.times_min = least.value_or(0);
    node.times_max = *most;
    if (node.times_max == 0 || node.times_min > node.times_max) return refused("a repetition of zero times");
    if (node.times_min > kTimesMax || (node.times_max != PatternNode::kNoEnd && node.times_max > kTimesMax)) {
      return refused(fmt::format("a repetition of more than {} times", kTimesMax));
    }
    return {};
  }

  Result<PatternNode> read_atom() {
    if (begins_repetition()) return refused("a repetition of nothing");
    if (accept("(")) return read_group();
    for (const std::string_view anchor : {"^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B"}) {
      if (accept(anchor)) return read_anchor(anchor.back());
    }
    if (is_next("[") || is_next(".")) previous_letter_ = 0;
    if (accept("[")) {
      LB_ASSIGN_OR_RETURN(CodePointSet set, read_class(/*is_outermost=*/true));
      return character(std::move(set));
    }
    if (accept(".")) return character(CodePointSet('\n', '\n').complement());
    if (is_next("\\")) {
      LB_ASSIGN_OR_RETURN(Escaped escaped, read_escape(false));
      if (!escaped.character) {
        if (ignores_case_ && !escaped.has_no_case) return refused("such a class where case is ignored");
        previous_letter_ = 0;
        return character(std::move(escaped.set));
      }
      return literal(*escaped.character);
    }
    return literal(take());
  }

  Result<PatternNode> literal(char32_t c) {
    if (!ignores_case_) {
      previous_letter_ = 0;
      return character(CodePointSet(c, c));
    }
    if (c >= 0x80) return refused("a character beyond ASCII where case is ignored");
    if (!is_ascii_letter(c)) {
      previous_letter_ = 0;
      return character(CodePointSet(c, c));
    }
    const char32_t lower = c | 0x20U;
    if (may_be_ligature(previous_letter_, lower)) {
      return refused("letters that form a ligature, where case is ignored");
    }
    previous_letter_ = lower;
    std::vector<CodePointSet::Range> both;
    add_cases(c, both);
    return character(CodePointSet(std::move(both)));
  }

  // Adds a letter of ASCII in both cases, including the long s and the Kelvin sign; other ASCII characters as they are.
  static void add_cases(char32_t c, std::vector<CodePointSet::Range>& ranges) {
    ranges.push_back({c, c});
    if (!is_ascii_letter(c)) return;
    ranges.push_back({c ^ 0x20U, c ^ 0x20U});
    if ((c | 0x20U) == 's') ranges.push_back({0x17F, 0x17F});
    if ((c | 0x20U) == 'k') ranges.push_back({0x212A, 0x212A});
  }

  // A look-ahead or look-behind for one of these characters.
  Result<PatternNode> look(bool behind, bool negated, const std::vector<CodePointSet>& at) {
    PatternNode inner;
    inner.kind = NodeKind::kSequence;
    for (const CodePointSet& set : at) {
      LB_ASSIGN_OR_RETURN(PatternNode part, character(set));
      inner.parts.push_back(std::move(part));
    }
    inner.size_min = inner.size_max = inner.expanded = at.size();
    PatternNode node;
    node.kind = NodeKind::kLook;
    node.behind = behind;
    node.negated = negated;
    node.expanded = inner.expanded;
    if (behind) behind_max_ = std::max(behind_max_, at.size());
    node.parts.push_back(at.size() == 1 ? std::move(inner.parts.front()) : std::move(inner));
    return node;
  }

  // An anchor is a condition on its two sides: no character, a line end, word characters.
  Result<PatternNode> read_anchor(char name) {
    const CodePointSet any = CodePointSet().complement();
    const CodePointSet line_end('\n', '\n');
    const CodePointSet word = characters_of_shorthand('w', false);
    struct Side {
      bool negated;
      CodePointSet set;
    };
    PatternNode node;
    node.kind = NodeKind::kAlternatives;
    const auto either = [&](const std::optional<Side>& behind, const std::optional<Side>& ahead) -> Status {
      PatternNode both;
      both.kind = NodeKind::kSequence;
      if (behind) {
        LB_ASSIGN_OR_RETURN(PatternNode part, look(true, behind->negated, {behind->set}));
        both.parts.push_back(std::move(part));
      }
      if (ahead) {
        LB_ASSIGN_OR_RETURN(PatternNode part, look(false, ahead->negated, {ahead->set}));
        both.parts.push_back(std::move(part));
      }
      both.expanded = both.parts.size();
      node.expanded += both.expanded;
      node.parts.push_back(both.parts.size() == 1 ? std::move(both.parts.front()) : std::move(both));
      return {};
    };
    switch (name) {
      case 'A':
        return look(true, true, {any});
      case 'z':
        return look(false, true, {any});
      case '$':
        return look(false, true, {line_end.complement()});
      case 'Z': {  // not two characters, and not one other than a line end
        node.kind = NodeKind::kSequence;
        LB_ASSIGN_OR_RETURN(PatternNode two, look(false, true, {any, any}));
        LB_ASSIGN_OR_RETURN(PatternNode other, look(false, true, {line_end.complement()}));
        node.expanded = two.expanded + other.expanded;
        node.parts.push_back(std::move(two));
        node.parts.push_back(std::move(other));
        return node;
      }
      case '^':  // no line begins after the last line end
        LB_RETURN_IF_ERROR(either(Side{true, any}, std::nullopt));
        LB_RETURN_IF_ERROR(either(Side{false, line_end}, Side{false, any}));
        return node;
      default:
        LB_RETURN_IF_ERROR(either(Side{false, word}, Side{name == 'b', word}));
        LB_RETURN_IF_ERROR(either(Side{true, word}, Side{name != 'b', word}));
        return node;
    }
  }

  // Reads a group after its "(".
  Result<PatternNode> read_group() {
    PatternNode node;
    bool is_plain = false;
    const bool ignored_case = ignores_case_;
    if (accept("?:") || !is_next("?")) {
      is_plain = true;
    } else if (accept("?i:")) {
      is_plain = true;
      ignores_case_ = true;
    } else if (accept("?i)")) {
      // It applies up to the end of the enclosing group, including the alternatives that follow.
      ignores_case_ = true;
      LB_ASSIGN_OR_RETURN(PatternNode rest, read_alternatives());
      ignores_case_ = ignored_case;
      if (rest.size_max == 0) return refused("'(?i)' with nothing after it");
      return rest;
    } else if (accept("?>")) {
      node.kind = NodeKind::kAtomic;
    } else if (accept("?=") || accept("?!")) {
      node.kind = NodeKind::kLook;
      node.negated = text_[at_ - 1] == '!';
    } else if (accept("?<=") || accept("?<!")) {
      node.kind = NodeKind::kLook;
      node.behind = true;
      node.negated = text_[at_ - 1] == '!';
    } else {
      return refused(fmt::format("a group that begins with {}", core::quoted("(" + std::string(text_.substr(at_, 2)))));
    }
    LB_ASSIGN_OR_RETURN(PatternNode inner, read_alternatives());
    ignores_case_ = ignored_case;
    if (!accept(")")) return refused("a '(' without its ')'");
    if (is_plain) {
      // A repetition would not recognise an empty group as a group.
      if (inner.size_max == 0) return refused("an empty group");
      return inner;
    }
    node.expanded = inner.expanded;
    if (node.kind == NodeKind::kAtomic) {
      node.size_min = inner.size_min;
      node.size_max = inner.size_max;
    } else {
      if (inner.size_min == 0) return refused("a lookaround that can match the empty text");
      if (has_look(inner)) return refused("a lookahead or lookbehind inside another one");
      if (node.behind) {
        if (inner.size_min != inner.size_max || inner.kind == NodeKind::kAtomic) {
          return refused("a lookbehind without a fixed length");
        }
        behind_max_ = std::max(behind_max_, inner.size_max);
      }
    }
    node.parts.push_back(std::move(inner));
    return node;
  }

  static bool has_look(const PatternNode& node) {
    return node.kind == NodeKind::kLook || std::any_of(node.parts.begin(), node.parts.end(), has_look);
  }

  // Characters and classes
  // ---------------------------------------------------------------------------------------------

  // One character, or a class.
  struct Escaped {
    std::optional<char32_t> character;
    CodePointSet set;
    bool has_no_case = false;  // in both cases or in none
  };

  // Reads a class after its "[". If case is ignored, this applies to the outermost class, before its '^'.
  Result<CodePointSet> read_class(bool is_outermost = false) {
    if (++depth_ > kGroupDepthMax) return refused(fmt::format("more than {} groups in each other", kGroupDepthMax));
    const bool is_negated = accept("^");
    std::optional<CodePointSet> intersected;
    std::vector<CodePointSet::Range> united;
    for (bool is_first = true; !accept("]"); is_first = false) {
      if (at_end()) return refused("a '[' without its ']'");
      if (accept("&&")) {
        if (united.empty()) return refused("a '&&' with nothing before it");
        intersected = meet(intersected, std::move(united));
        united.clear();
        if (is_next("]")) return refused("a '&&' with nothing after it");
        continue;
      }
      LB_RETURN_IF_ERROR(read_class_item(is_first, united));
    }
    if (united.empty()) return refused("an empty class");
    --depth_;
    CodePointSet set = meet(intersected, std::move(united));
    if (ignores_case_ && is_outermost) {
      LB_ASSIGN_OR_RETURN(set, in_all_cases(set));
    }
    return is_negated ? set.complement() : set;
  }

  Result<CodePointSet> in_all_cases(const CodePointSet& set) const {
    std::vector<CodePointSet::Range> ranges;
    for (const auto& range : set.ranges()) {
      if (range.last >= 0x80) return refused("a class of characters beyond ASCII where case is ignored");
      for (char32_t c = range.first; c <= range.last; ++c)
        add_cases(c, ranges);
    }
    return CodePointSet(std::move(ranges));
  }

  static CodePointSet meet(const std::optional<CodePointSet>& before, std::vector<CodePointSet::Range> united) {
    CodePointSet set(std::move(united));
    return before ? before->intersected(set) : set;
  }

  Status read_class_item(bool is_first, std::vector<CodePointSet::Range>& ranges) {
    const auto unite = [&ranges](const CodePointSet& set) {
      ranges.insert(ranges.end(), set.ranges().begin(), set.ranges().end());
    };
    if (is_next("[:")) return refused("a class in '[:' and ':]'");
    if (accept("[")) {
      LB_ASSIGN_OR_RETURN(const CodePointSet inner, read_class());
      if (is_next("-") && !is_next("-]")) return refused("a '-' after a class");
      unite(inner);
      return {};
    }
    if (is_next("-") && !is_first && !is_next("-]")) return refused("a '-' between characters that is not a range");
    const bool is_dash = is_next("-");
    LB_ASSIGN_OR_RETURN(const Escaped first, read_class_character());
    const bool is_range = is_next("-") && !is_next("-]");
    if (is_range && (!first.character || is_dash)) return refused("a '-' that is not a range");
    if (!first.character) {
      unite(first.set);
      return {};
    }
    char32_t last = *first.character;
    if (is_range) {
      accept("-");
      if (at_end() || is_next("[") || is_next("-")) return refused("a range without its end");
      LB_ASSIGN_OR_RETURN(const Escaped end, read_class_character());
      if (!end.character || *end.character < *first.character) return refused("a range without its end");
      last = *end.character;
    }
    ranges.push_back({*first.character, last});
    return {};
  }

  Result<Escaped> read_class_character() {
    if (is_next("\\")) return read_escape(true);
    return Escaped{take(), {}};
  }

  Result<Escaped> read_escape(bool in_brackets) {
    accept("\\");
    if (at_end()) return refused("a '\\' at the end");
    const std::size_t begin = at_;
    const char32_t c = take();
    const auto one = [](char32_t character) { return Escaped{character, {}}; };
    switch (c) {
      case 'n':
        return one('\n');
      case 'r':
        return one('\r');
      case 't':
        return one('\t');
      case 'f':
        return one('\f');
      case 'v':
        return one('\v');
      case 's':
      case 'd':
      case 'w':
        return Escaped{{}, characters_of_shorthand(static_cast<char>(c), in_brackets), c != 'w'};
      case 'S':
      case 'D':
      case 'W':
        return Escaped{{}, characters_of_shorthand(static_cast<char>(c | 0x20U), in_brackets).complement(), c != 'W'};
      case 'p':
      case 'P':
        return read_category(c == 'P');
      case 'x':
        return accept("{") ? read_hexadecimal(1, 6, "}", unicode::kCodePointEnd) : read_hexadecimal(2, 2, "", 0x80);
      case 'u':
        return read_hexadecimal(4, 4, "", unicode::kCodePointEnd);
      default:
        break;
    }
    if (c >= 0x80 || is_ascii_letter(c) || is_decimal_digit(c) || c <= 0x20 || c == 0x7F) {
      return refused(core::quoted("\\" + std::string(text_.substr(begin, at_ - begin))));
    }
    return one(c);
  }

  Result<Escaped> read_hexadecimal(std::size_t digits_min, std::size_t digits_max, std::string_view end,
                                   char32_t below) {
    char32_t value = 0;
    std::size_t digits = 0;
    for (; digits < digits_max && !at_end(); ++digits) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      const auto lower = static_cast<char32_t>(c | 0x20U);
      if (!is_decimal_digit(c) && !(lower >= 'a' && lower <= 'f')) break;
      value = value * 16 + (is_decimal_digit(c) ? char32_t{c} - '0' : lower - 'a' + 10);
      ++at_;
    }
    if (digits < digits_min || !accept(end) || value >= below || (value >= 0xD800 && value <= 0xDFFF)) {
      return refused("a hexadecimal number that is not a character");
    }
    return Escaped{value, {}};
  }

  // Reads a category after "\p" or "\P".
  Result<Escaped> read_category(bool is_negated) {
    const std::size_t end = text_.find('}', at_);
    if (!accept("{") || end == std::string_view::npos) return refused("a '\\p' without its '{' and '}'");
    if (accept("^")) is_negated = !is_negated;
    const std::string_view name = text_.substr(at_, end - at_);
    auto set = characters_of_category(name);
    if (!set) return refused(core::quoted("\\p{" + std::string(name) + "}"));
    at_ = end + 1;
    return Escaped{{}, is_negated ? set->complement() : std::move(*set)};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool ignores_case_ = false;
  char32_t previous_letter_ = 0;  // the last literal, if it is a letter whose case is ignored
  std::map<CodePointSet, std::size_t> sets_;
  std::size_t behind_max_ = 0;
};

}  // namespace

Result<PatternTree> read_pattern(std::string_view expression) {
  return PatternReader(expression).read();
}

}  // namespace latebind::embedding
