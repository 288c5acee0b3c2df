// A look at a shared library before the loader gets it. Internal to core/platform, and a matter of Linux: its loader
// maps what the headers promise without comparing it with the length of the file, so a library that was cut off (a
// broken download, a full disk) kills the process with SIGBUS instead of being refused.
//
// May be called from any thread.
#pragma once

#include <filesystem>

#include "core/status.h"

namespace latebind::platform {

// kLibraryUnusable when the file ends before its segments do. Whatever else may be wrong (no ELF file at all, another
// processor's) is left to the loader, which says it well.
[[nodiscard]] core::Status check_library_is_whole(const std::filesystem::path& file);

}  // namespace latebind::platform
