// What control groups allow of the processors. Internal to core/platform.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace latebind::platform {

// Processors, rounded up, that the quota of a process's groups leaves it; nothing when there is none. `groups` is where
// the groups are mounted, `own` the content of /proc/self/cgroup. Every group up to the root counts, in the unified
// hierarchy and in the older one.
[[nodiscard]] std::optional<unsigned> processors_of_quota(const std::filesystem::path& groups, std::string_view own);

}  // namespace latebind::platform
