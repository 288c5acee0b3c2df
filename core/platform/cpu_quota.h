// The number of processors that control groups allow. Internal to core/platform; may be called from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace latebind::platform {

// Returns the number of processors, rounded up, that the quotas of a process's groups allow; std::nullopt when there is
// no quota. `groups` is where the groups are mounted, and `own` the content of /proc/self/cgroup. Every group up to the
// root counts, in the unified hierarchy and in the older one.
[[nodiscard]] std::optional<unsigned> processors_of_quota(const std::filesystem::path& groups, std::string_view own);

}  // namespace latebind::platform
