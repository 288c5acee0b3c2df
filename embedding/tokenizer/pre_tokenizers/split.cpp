// Split: words end where a pattern matches.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "embedding/tokenizer/patterns/split_behavior.h"

namespace latebind::embedding {
namespace {

class Split final : public PreTokenizer {
 public:
  Split(PatternPtr pattern, SplitBehavior behavior, bool inverted)
      : pattern_(std::move(pattern)), behavior_(behavior), inverted_(inverted) {}

  bool split(std::string_view text, WordSink& sink) const override {
    BehaviorSplitter splitter(behavior_, inverted_, text, sink);
    return pattern_->find_all(text, splitter) && splitter.finish();
  }

 private:
  const PatternPtr pattern_;
  const SplitBehavior behavior_;
  const bool inverted_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_split(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "pattern", "behavior", "invert"}));
  LB_ASSIGN_OR_RETURN(PatternPtr pattern, Pattern::read(view, "pattern"));
  LB_ASSIGN_OR_RETURN(const SplitBehavior behavior, read_split_behavior(view));
  LB_ASSIGN_OR_RETURN(const bool inverted, view.boolean("invert"));
  return PreTokenizerPtr(std::make_unique<Split>(std::move(pattern), behavior, inverted));
}

}  // namespace latebind::embedding
