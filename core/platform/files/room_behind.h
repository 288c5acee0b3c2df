// Detects files that a vendor may have written incompletely: some vendors do not report a full disk. May be called from
// any thread.
#pragma once

#include <filesystem>

#include "core/status.h"

namespace latebind::platform {

// Checks that a file which has just been written could be extended. The file stays as it is, or is created empty if it
// is missing. An error means that the file may be cut off: kDiskFull, or kIo at the process's limit on file sizes,
// which sends no signal here.
[[nodiscard]] core::Status check_room_behind(const std::filesystem::path& file);

}  // namespace latebind::platform
