// A check of a shared library before the loader opens it. Internal to core/platform, and for Linux only: its loader
// maps what the headers claim without comparing it with the length of the file, so a truncated library (a broken
// download, a full disk) kills the process with SIGBUS instead of being rejected.
//
// May be called from any thread.
#pragma once

#include <filesystem>

#include "core/status.h"

namespace latebind::platform {

// kLibraryUnusable when the file ends before its segments do. Whatever else may be wrong (no ELF file at all, another
// processor's) is left to the loader, which reports it well.
[[nodiscard]] core::Status check_library_is_whole(const std::filesystem::path& file);

}  // namespace latebind::platform
