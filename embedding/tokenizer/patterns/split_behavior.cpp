#include "embedding/tokenizer/patterns/split_behavior.h"

#include <fmt/format.h>

#include <string>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

struct NamedBehavior {
  std::string_view name;
  SplitBehavior behavior;
};

constexpr NamedBehavior kBehaviors[] = {
    {"Removed", SplitBehavior::kRemoved},
    {"Isolated", SplitBehavior::kIsolated},
    {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
    {"MergedWithNext", SplitBehavior::kMergedWithNext},
    {"Contiguous", SplitBehavior::kContiguous},
};

}  // namespace

core::Result<SplitBehavior> read_split_behavior(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(const std::string name, view.string("behavior"));
  for (const NamedBehavior& known : kBehaviors) {
    if (known.name == name) return known.behavior;
  }
  return core::Status(core::StatusCode::kUnsupported,
                      fmt::format("{}.behavior {} is not supported{}", view.name(), core::quoted(name),
                                  core::supported_instead(name, core::words_of(kBehaviors, &NamedBehavior::name))));
}

bool BehaviorSplitter::joins(bool is_match) const {
  switch (behavior_) {
    case SplitBehavior::kContiguous:
      return is_match == waits_as_match_;
    case SplitBehavior::kMergedWithPrevious:
      return is_match && !waits_as_match_;
    case SplitBehavior::kMergedWithNext:
      return !is_match && waits_as_match_;
    default:
      return false;
  }
}

bool BehaviorSplitter::piece(std::size_t begin, std::size_t end, bool is_match) {
  if (behavior_ == SplitBehavior::kIsolated) return give(begin, end);
  if (behavior_ == SplitBehavior::kRemoved) return is_match || give(begin, end);
  if (waiting_begin_ != waiting_end_ && joins(is_match)) {
    waiting_end_ = end;
  } else {
    if (!give_waiting()) return false;
    waiting_begin_ = begin;
    waiting_end_ = end;
  }
  waits_as_match_ = is_match;
  return true;
}

}  // namespace latebind::embedding
