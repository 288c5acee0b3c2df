// The names of what is written beside its final place: ".latebind-<process>-<count>-<8 hexadecimal digits>.tmp". What a
// crash has left is told by them from what others keep there.
#pragma once

#include <string_view>

namespace latebind::platform {

[[nodiscard]] bool is_temporary_name(std::string_view name);

}  // namespace latebind::platform
