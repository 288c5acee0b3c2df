// RobertaProcessing: one token before every text and one behind it.
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/post_processors/cls_and_sep.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_roberta_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "sep", "cls", "trim_offsets", "add_prefix_space"}));
  // They change offsets alone.
  for (const char* key : {"trim_offsets", "add_prefix_space"}) {
    if (view.find(key) != nullptr) LB_RETURN_IF_ERROR(view.boolean(key).status());
  }
  return read_cls_and_sep(view, id_end);
}

}  // namespace latebind::embedding
