// Files that a vendor has written and did not say whether all of it arrived: some report no full disk. Stateless
// functions; any thread.
#pragma once

#include <filesystem>

#include "core/status.h"

namespace latebind::platform {

// Whether more can be written behind a file that has just been written; the file stays as it is, or is created empty.
// An error means that it may be cut off: kDiskFull, or kIo where it meets the process's limit on file sizes, which
// sends no signal here.
[[nodiscard]] core::Status check_room_behind(const std::filesystem::path& file);

}  // namespace latebind::platform
