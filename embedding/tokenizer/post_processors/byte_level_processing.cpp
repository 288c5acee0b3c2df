// ByteLevel: takes the spaces out of the offsets of tokens, and adds nothing.
#include "embedding/tokenizer/byte_level_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {

core::Result<PostProcessor> read_byte_level_processing(const JsonView& view, std::size_t) {
  LB_RETURN_IF_ERROR(read_byte_level_options(view).status());
  return PostProcessor{};
}

}  // namespace latebind::embedding
