// The options in the file of all parts named ByteLevel. A value.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

struct ByteLevelOptions {
  bool add_prefix_space = false;
  bool trim_offsets = false;  // used by the post-processor only
  bool use_regex = true;      // whether the text is split into words
};

[[nodiscard]] core::Result<ByteLevelOptions> read_byte_level_options(const JsonView& view);

}  // namespace latebind::embedding
