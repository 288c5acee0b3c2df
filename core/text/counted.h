// A number with the noun that it counts: "1 text", "2 texts", "2 batches". Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace latebind::core {

// Returns "text" for one, "texts" for any other number.
[[nodiscard]] inline std::string noun_for(bool is_one, std::string_view noun) {
  return std::string(noun) + (is_one ? "" : noun.ends_with("ch") ? "es" : "s");
}

[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + noun_for(count == 1, noun);
}

}  // namespace latebind::core
