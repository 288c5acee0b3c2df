// Random inputs for encoders: "ids" and "mask", both i64 [texts, tokens].
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kit/reference/array.h"

namespace latebind::kit {

// Draws texts of these lengths with ids below `vocabulary`, padded to the longest one and by `more`. Padding has id 0.
[[nodiscard]] Inputs draw_batch(std::mt19937& chance, const std::vector<std::int64_t>& lengths, std::int64_t vocabulary,
                                std::int64_t more = 0);

// Marks the last `count` tokens of each text as unattended, but never its first token.
void leave_unattended(Inputs& inputs, std::int64_t count);

}  // namespace latebind::kit
