// Environment variables, read with care.
//
// Any thread may call these functions, as long as no other code changes the environment meanwhile.
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

// Sets a variable for this process and the children it starts, unless it is set (to nothing counts): for what a
// vendor's library asks of the environment and of nothing else. Threads that read the environment at the same moment
// find the old one or the new one: other than with setenv(), nothing that they may be reading is moved or freed.
// Without memory for it nothing happens.
void set_environment_default(const char* name, const char* value) noexcept;

// Every variable whose name begins with `prefix`, as name and value, empty ones included.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix);

}  // namespace latebind::platform
