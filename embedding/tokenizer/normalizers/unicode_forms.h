// What other normalizers need of Unicode's normalization forms. Pure functions, any thread.
#pragma once

#include "embedding/tokenizer/aligned_text.h"

namespace latebind::embedding {

// As NFD decomposes it.
[[nodiscard]] AlignedText decompose_aligned(const AlignedText& text);

}  // namespace latebind::embedding
