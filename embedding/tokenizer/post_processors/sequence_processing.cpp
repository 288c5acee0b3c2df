// Sequence: applies several post-processors, of which at most one adds tokens.
#include <fmt/format.h>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_sequence_processing(const JsonView& view, std::size_t id_end) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "processors"}));
  LB_ASSIGN_OR_RETURN(const core::Json* processors, view.array("processors"));
  PostProcessor all;
  bool found = false;
  for (const core::Json& processor : *processors) {
    const std::string place = fmt::format("{}.processors[{}]", view.name(), &processor - &processors->front());
    LB_ASSIGN_OR_RETURN(const JsonView inner, JsonView::object(processor, place));
    LB_ASSIGN_OR_RETURN(const auto read, find_part(inner, kPostProcessors));
    LB_ASSIGN_OR_RETURN(PostProcessor one, read(inner, id_end));
    for (OffsetTrim& trim : one.trims)
      trim.sees_first_token = trim.sees_first_token && !all.joins_tokens;
    all.trims.insert(all.trims.end(), one.trims.begin(), one.trims.end());
    const std::size_t added_to_pair = one.pair.ok() ? one.pair->added_tokens() : 1;
    if (one.added_tokens() == 0 && added_to_pair == 0) continue;
    // The reference would use what a template made for several texts.
    if (found) {
      return core::Status(core::StatusCode::kUnsupported,
                          fmt::format("{} adds tokens, as one before it does (supported: one that does)", place));
    }
    all.before = std::move(one.before);
    all.after = std::move(one.after);
    all.joins_tokens = one.joins_tokens;
    all.pair = std::move(one.pair);
    found = true;
  }
  return all;
}

}  // namespace latebind::embedding
