// Checks a shared library before the loader opens it. Internal to core/platform, and only for Linux: its loader maps
// what the headers claim without comparing it with the length of the file, so a truncated library (a broken download, a
// full disk) would kill the process with SIGBUS instead of being rejected.
//
// May be called from any thread.
#pragma once

#include <filesystem>

#include "core/status.h"

namespace latebind::platform {

// Returns kLibraryUnusable when the file ends before its segments do. Other defects (not an ELF file, another
// processor's library) are left to the loader, which reports them well.
[[nodiscard]] core::Status check_library_is_whole(const std::filesystem::path& file);

}  // namespace latebind::platform
