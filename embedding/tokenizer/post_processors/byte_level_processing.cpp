// ByteLevel: takes the spaces out of the offsets of tokens, and adds nothing.
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_byte_level_processing(const JsonView& view, std::size_t) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  for (const char* key : {"add_prefix_space", "trim_offsets"})
    LB_RETURN_IF_ERROR(view.boolean(key).status());
  if (view.find("use_regex") != nullptr) LB_RETURN_IF_ERROR(view.boolean("use_regex").status());
  return PostProcessor{};
}

}  // namespace latebind::embedding
