// RobertaProcessing: puts one token before and one after each text, and two between two texts, which have the same
// type.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/post_processors/cls_and_sep.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_roberta_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}));
  // These options change offsets only.
  bool trim_offsets = true;
  if (view.find("trim_offsets") != nullptr) {
    LB_ASSIGN_OR_RETURN(trim_offsets, view.boolean("trim_offsets"));
  }
  bool add_prefix_space = true;
  if (view.find("add_prefix_space") != nullptr) {
    LB_ASSIGN_OR_RETURN(add_prefix_space, view.boolean("add_prefix_space"));
  }
  LB_ASSIGN_OR_RETURN(PostProcessor roberta, read_cls_and_sep(view, id_end));
  if (trim_offsets) roberta.trims.push_back({add_prefix_space, true});
  const std::int32_t sep = roberta.after.front();
  roberta.pair = PairProcessor{.before = roberta.before, .between = {sep, sep}, .after = roberta.after};
  return roberta;
}

}  // namespace latebind::embedding
