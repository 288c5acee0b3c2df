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

// True when the process has rights that its caller does not have: setuid, setgid, file capabilities; on Windows, raised
// by User Account Control.
[[nodiscard]] bool is_privileged();

// The value, or nothing when unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);

// As above, but nothing at all in a privileged process: for variables that choose code to load or files to trust.
[[nodiscard]] std::optional<std::string> trusted_environment(const char* name);

// Sets a variable for this process and the children it starts, unless it is set (to nothing counts): for settings that
// a vendor's library reads only from the environment. Threads that read the environment at the same time see the old
// one or the new one: unlike setenv(), this moves and frees nothing that they may be reading. Without memory for it
// nothing happens.
void set_environment_default(const char* name, const char* value) noexcept;

// Every variable whose name begins with `prefix`, as name and value, empty ones included.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix);

}  // namespace latebind::platform
