#include "embedding/tokenizer/byte_level_options.h"

namespace latebind::embedding {

core::Result<ByteLevelOptions> read_byte_level_options(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "add_prefix_space", "trim_offsets", "use_regex"}));
  ByteLevelOptions options;
  LB_ASSIGN_OR_RETURN(options.add_prefix_space, view.boolean("add_prefix_space"));
  LB_ASSIGN_OR_RETURN(options.trim_offsets, view.boolean("trim_offsets"));
  if (view.find("use_regex") != nullptr) {
    LB_ASSIGN_OR_RETURN(options.use_regex, view.boolean("use_regex"));
  }
  return options;
}

}  // namespace latebind::embedding
