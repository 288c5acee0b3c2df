// ByteLevel: removes spaces from the offsets of tokens, and adds no tokens.
#include "embedding/tokenizer/byte_level_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_byte_level_processing(const JsonView& view, std::size_t) {
  LB_ASSIGN_OR_RETURN(const ByteLevelOptions options, read_byte_level_options(view));
  PostProcessor post_processor;
  if (options.trim_offsets) post_processor.trims.push_back({options.add_prefix_space, true});
  return post_processor;
}

}  // namespace latebind::embedding
