// Gives a finished file its name, and never takes the place of another one.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Renames `finished` to `place`, in the same folder. False when something has that name: both stay as they are. Where a
// file system cannot do it in one step, something that gets the name at the very same moment is replaced. The errors of
// OutputFile.
[[nodiscard]] core::Result<bool> place_new_file(const std::filesystem::path& finished,
                                                const std::filesystem::path& place);

}  // namespace latebind::platform
