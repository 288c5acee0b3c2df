#include "embedding/tokenizer/patterns/pattern_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "core/text/quote.h"
#include "embedding/tokenizer/patterns/character_classes.h"
#include "embedding/tokenizer/patterns/pattern_characters.h"
#include "embedding/tokenizer/patterns/pattern_cursor.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using NodeKind = PatternNode::Kind;
using Greed = PatternNode::Greed;

constexpr std::size_t kTimesMax = 1000;
constexpr std::size_t kExpandedMax = 4096;
constexpr std::size_t kSetsMax = 250;

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
    if (!text_.at_end()) return text_.refused("a ')' without its '('");
    if (root.size_min == 0) return text_.refused("that it can match the empty text");
    PatternTree tree;
    tree.root = std::move(root);
    tree.sets.resize(sets_.size());
    for (auto& [set, place] : sets_)
      tree.sets[place] = set;
    tree.behind_max = behind_max_;
    return tree;
  }

 private:
  static std::size_t sum(std::size_t a, std::size_t b) {
    return a > PatternNode::kNoEnd - b ? PatternNode::kNoEnd : a + b;
  }
  static std::size_t product(std::size_t a, std::size_t b) {
    return a != 0 && b > PatternNode::kNoEnd / a ? PatternNode::kNoEnd : a * b;
  }

  Result<PatternNode> character(CodePointSet set) {
    const auto [place, is_new] = sets_.try_emplace(std::move(set), sets_.size());
    if (sets_.size() > kSetsMax)
      return text_.refused(fmt::format("more than {} different characters and classes", kSetsMax));
    PatternNode node;
    node.kind = NodeKind::kCharacter;
    node.set = place->second;
    node.size_min = node.size_max = node.expanded = 1;
    return node;
  }

  Result<PatternNode> read_alternatives() {
    LB_RETURN_IF_ERROR(text_.enter());
    PatternNode node;
    node.kind = NodeKind::kAlternatives;
    node.size_min = PatternNode::kNoEnd;
    do {
      LB_ASSIGN_OR_RETURN(PatternNode part, read_sequence());
      node.size_min = std::min(node.size_min, part.size_min);
      node.size_max = std::max(node.size_max, part.size_max);
      node.expanded = sum(node.expanded, part.expanded);
      node.parts.push_back(std::move(part));
    } while (text_.accept("|"));
    text_.leave();
    if (node.expanded > kExpandedMax) {
      return text_.refused(
          fmt::format("more than {} characters and classes when repetitions are written out", kExpandedMax));
    }
    if (node.parts.size() == 1) return std::move(node.parts.front());
    return node;
  }

  Result<PatternNode> read_sequence() {
    PatternNode node;
    node.kind = NodeKind::kSequence;
    while (!text_.at_end() && !text_.is_next("|") && !text_.is_next(")")) {
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
    if (part.kind == NodeKind::kLook) return text_.refused("a repetition of a lookahead or lookbehind");
    if (part.size_min == 0) return text_.refused("a repetition of what can match the empty text");
    PatternNode node;
    node.kind = NodeKind::kRepeat;
    const bool is_interval = text_.is_next("{");
    LB_RETURN_IF_ERROR(read_times(node));
    if (text_.is_next("?")) {
      // After an interval, it is a second repetition.
      if (is_interval && node.times_min == node.times_max)
        return text_.refused("a '?' after a fixed number of repetitions");
      text_.accept("?");
      node.greed = Greed::kLazy;
    } else if (text_.is_next("+")) {
      if (is_interval) return text_.refused("a '+' after a number of repetitions");
      text_.accept("+");
      node.greed = Greed::kPossessive;
    }
    if (begins_repetition()) return text_.refused("a repetition of a repetition");
    if (part.kind == NodeKind::kRepeat && (part.greed != Greed::kGreedy || node.greed != Greed::kGreedy)) {
      return text_.refused("a repetition of a repetition if one of them is not greedy");
    }
    node.size_min = product(part.size_min, node.times_min);
    node.size_max = product(part.size_max, node.times_max);
    const std::size_t written = node.times_max == PatternNode::kNoEnd ? node.times_min : node.times_max;
    node.expanded = product(part.expanded, std::max<std::size_t>(written, 1));
    node.parts.push_back(std::move(part));
    return node;
  }

  [[nodiscard]] bool begins_repetition() const {
    return text_.is_next("*") || text_.is_next("+") || text_.is_next("?") || text_.is_next("{");
  }

  Status read_times(PatternNode& node) {
    node.times_max = PatternNode::kNoEnd;
    if (text_.accept("*")) {
      node.times_min = 0;
    } else if (text_.accept("+")) {
      node.times_min = 1;
    } else if (text_.accept("?")) {
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
      const std::size_t begin = text_.place();
      while (!text_.at_end() && is_decimal_digit(text_.byte()) && text_.place() - begin < 6) {
        value = value * 10 + text_.byte() - '0';
        text_.skip(1);
      }
      return text_.place() > begin ? std::optional(value) : std::nullopt;
    };
    text_.accept("{");
    const auto least = number();
    auto most = least;
    if (text_.accept(",")) {
      most = number();
      if (!least && !most) return text_.refused("a '{' without a number of repetitions");
      if (!most) most = PatternNode::kNoEnd;
    }
    if (!most || !text_.accept("}")) return text_.refused("a '{' without a number of repetitions");
    node.times_min = least.value_or(0);
    node.times_max = *most;
    if (node.times_max == 0 || node.times_min > node.times_max) return text_.refused("a repetition of zero times");
    if (node.times_min > kTimesMax || (node.times_max != PatternNode::kNoEnd && node.times_max > kTimesMax)) {
      return text_.refused(fmt::format("a repetition of more than {} times", kTimesMax));
    }
    return {};
  }

  Result<PatternNode> read_atom() {
    if (begins_repetition()) return text_.refused("a repetition of nothing");
    if (text_.accept("(")) return read_group();
    for (const std::string_view anchor : {"^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B"}) {
      if (text_.accept(anchor)) return read_anchor(anchor.back());
    }
    if (text_.is_next("[") || text_.is_next(".")) previous_letter_ = 0;
    if (text_.accept("[")) {
      LB_ASSIGN_OR_RETURN(CodePointSet set, read_class(text_, ignores_case_));
      return character(std::move(set));
    }
    if (text_.accept(".")) return character(CodePointSet('\n', '\n').complement());
    if (text_.is_next("\\")) {
      LB_ASSIGN_OR_RETURN(PatternCharacter escaped, read_escape(text_, false));
      if (!escaped.character) {
        if (ignores_case_ && !escaped.has_no_case) return text_.refused("such a class where case is ignored");
        previous_letter_ = 0;
        return character(std::move(escaped.set));
      }
      return literal(*escaped.character);
    }
    return literal(text_.take());
  }

  Result<PatternNode> literal(char32_t c) {
    if (!ignores_case_) {
      previous_letter_ = 0;
      return character(CodePointSet(c, c));
    }
    if (c >= 0x80) return text_.refused("a character beyond ASCII where case is ignored");
    if (!is_ascii_letter(c)) {
      previous_letter_ = 0;
      return character(CodePointSet(c, c));
    }
    const char32_t lower = c | 0x20U;
    if (may_be_ligature(previous_letter_, lower)) {
      return text_.refused("letters that form a ligature, where case is ignored");
    }
    previous_letter_ = lower;
    std::vector<CodePointSet::Range> both;
    add_cases(c, both);
    return character(CodePointSet(std::move(both)));
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
    if (text_.accept("?:") || !text_.is_next("?")) {
      is_plain = true;
    } else if (text_.accept("?i:")) {
      is_plain = true;
      ignores_case_ = true;
    } else if (text_.accept("?i)")) {
      // It applies up to the end of the enclosing group, including the alternatives that follow.
      ignores_case_ = true;
      LB_ASSIGN_OR_RETURN(PatternNode rest, read_alternatives());
      ignores_case_ = ignored_case;
      if (rest.size_max == 0) return text_.refused("'(?i)' with nothing after it");
      return rest;
    } else if (text_.accept("?>")) {
      node.kind = NodeKind::kAtomic;
    } else if (text_.accept("?=") || text_.accept("?!")) {
      node.kind = NodeKind::kLook;
      node.negated = text_.since(text_.place() - 1) == "!";
    } else if (text_.accept("?<=") || text_.accept("?<!")) {
      node.kind = NodeKind::kLook;
      node.behind = true;
      node.negated = text_.since(text_.place() - 1) == "!";
    } else {
      return text_.refused(
          fmt::format("a group that begins with {}", core::quoted("(" + std::string(text_.rest().substr(0, 2)))));
    }
    LB_ASSIGN_OR_RETURN(PatternNode inner, read_alternatives());
    ignores_case_ = ignored_case;
    if (!text_.accept(")")) return text_.refused("a '(' without its ')'");
    if (is_plain) {
      // A repetition would not recognise an empty group as a group.
      if (inner.size_max == 0) return text_.refused("an empty group");
      return inner;
    }
    node.expanded = inner.expanded;
    if (node.kind == NodeKind::kAtomic) {
      node.size_min = inner.size_min;
      node.size_max = inner.size_max;
    } else {
      if (inner.size_min == 0) return text_.refused("a lookaround that can match the empty text");
      if (has_look(inner)) return text_.refused("a lookahead or lookbehind inside another one");
      if (node.behind) {
        if (inner.size_min != inner.size_max || inner.kind == NodeKind::kAtomic) {
          return text_.refused("a lookbehind without a fixed length");
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

  PatternCursor text_;
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
