// Gives a finished file its name without replacing another file.
#pragma once

#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

// Renames `finished` to `place`, in the same folder. Returns false, and changes nothing, when something has that name.
// If a file system cannot do this in one step, a file that gets the name at the very same moment is replaced. Fails as
// OutputFile does. May be called from any thread.
[[nodiscard]] core::Result<bool> place_new_file(const std::filesystem::path& finished,
                                                const std::filesystem::path& place);

}  // namespace latebind::platform
