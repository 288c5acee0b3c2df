// BertProcessing: puts one token before and one after each text. The second of two texts has type 1.
#include <fmt/format.h>

#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/post_processors/cls_and_sep.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_cls_and_sep(const JsonView& view, std::size_t id_end) {
  PostProcessor post_processor;
  post_processor.joins_tokens = true;
  for (const char* key : {"cls", "sep"}) {
    LB_ASSIGN_OR_RETURN(const core::Json* pair, view.array(key));
    if (pair->size() != 2 || !(*pair)[0].is_string()) {
      return core::Status(core::StatusCode::kInvalidModel,
                          fmt::format("{}.{} is not a token and its id", view.name(), key));
    }
    LB_ASSIGN_OR_RETURN(const std::int32_t id, token_id((*pair)[1], id_end, fmt::format("{}.{}[1]", view.name(), key)));
    (key[0] == 'c' ? post_processor.before : post_processor.after).push_back(id);
  }
  return post_processor;
}

core::Result<PostProcessor> read_bert_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "sep", "cls"}));
  LB_ASSIGN_OR_RETURN(PostProcessor bert, read_cls_and_sep(view, id_end));
  bert.pair = PairProcessor{.before = bert.before, .between = bert.after, .after = bert.after, .type_one_from = 1};
  return bert;
}

}  // namespace latebind::embedding
