// What every part named ByteLevel has in the file.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

struct ByteLevelOptions {
  bool add_prefix_space = false;
  bool trim_offsets = false;  // of the post-processor alone
  bool use_regex = true;      // splits into words
};

[[nodiscard]] core::Result<ByteLevelOptions> read_byte_level_options(const JsonView& view);

}  // namespace latebind::embedding
