// Shared reading code of post-processors that put "cls" before every text and "sep" behind it.
#pragma once

#include <cstddef>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/post_processor.h"

namespace latebind::embedding {

// Each is a token and its id, below `id_end`.
[[nodiscard]] core::Result<PostProcessor> read_cls_and_sep(const JsonView& view, std::size_t id_end);

}  // namespace latebind::embedding
