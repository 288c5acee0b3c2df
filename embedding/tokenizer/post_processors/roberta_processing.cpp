// RobertaProcessing: one token before every text and one behind it. Two texts have two between them, and one type.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/post_processors/cls_and_sep.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_roberta_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}));
  // They change offsets alone.
  for (const char* key : {"trim_offsets", "add_prefix_space"}) {
    if (view.find(key) != nullptr) LB_RETURN_IF_ERROR(view.boolean(key).status());
  }
  LB_ASSIGN_OR_RETURN(PostProcessor roberta, read_cls_and_sep(view, id_end));
  const std::int32_t sep = roberta.behind.front();
  roberta.pair = PairProcessor{.before = roberta.before, .between = {sep, sep}, .behind = roberta.behind};
  return roberta;
}

}  // namespace latebind::embedding
