// Environment variables.
//
// All functions may be called from any thread, as long as no other code changes the environment meanwhile.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::platform {

// Whether the process has rights that its caller does not have: by setuid, setgid or file capabilities; on Windows,
// through User Account Control.
[[nodiscard]] bool is_privileged();

// Returns the value, or std::nullopt when the variable is unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);

// Like environment(), but std::nullopt in a privileged process. For variables that choose code to load or files to
// trust.
[[nodiscard]] std::optional<std::string> trusted_environment(const char* name);

// Sets a variable for this process and the children it starts, unless it is set already, even to an empty value. For
// settings that a vendor's library reads only from the environment. Threads that read the environment at the same time
// see the old one or the new one: unlike setenv(), this neither moves nor frees memory that they may be reading. Does
// nothing if there is no memory.
void set_environment_default(const char* name, const char* value) noexcept;

// Returns the name and value of every variable whose name begins with `prefix`, including empty ones.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix);

}  // namespace latebind::platform
