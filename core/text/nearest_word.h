// Which known word was probably meant. Pure functions.
#pragma once

#include <span>
#include <string_view>

namespace latebind::core {

// The known word nearest to `given` by edit distance, or empty when none is near enough.
[[nodiscard]] std::string_view nearest_word(std::string_view given, std::span<const std::string_view> known);

}  // namespace latebind::core
