// Reading code shared by post-processors that put "cls" before and "sep" after each text. Any thread.
#pragma once

#include <cstddef>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/post_processor.h"

namespace latebind::embedding {

// Both keys hold a token and its id, which must be below `id_end`.
[[nodiscard]] core::Result<PostProcessor> read_cls_and_sep(const JsonView& view, std::size_t id_end);

}  // namespace latebind::embedding
