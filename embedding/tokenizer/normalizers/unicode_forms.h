// Unicode's normalization forms for other normalizers. Pure functions, any thread.
#pragma once

#include "embedding/tokenizer/aligned_text.h"

namespace latebind::embedding {

// Decomposes a text as NFD does.
[[nodiscard]] AlignedText decompose_aligned(const AlignedText& text);

}  // namespace latebind::embedding
