// Environment variables, read with care.
//
// Any thread may call these functions, as long as none changes the environment meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::platform {

// True when the process has rights that its caller has not: setuid, setgid, file capabilities; on Windows, raised by
// User Account Control.
[[nodiscard]] bool is_privileged();

// The value, or nothing when unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);

// As above, but nothing at all in a privileged process: for variables that choose code to load or files to trust.
[[nodiscard]] std::optional<std::string> trusted_environment(const char* name);

// Every variable whose name begins with `prefix`, as name and value, empty ones included.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix);

}  // namespace latebind::platform
