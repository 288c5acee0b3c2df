// Files that people edit: read, not mapped, because an editor may empty one while it is being read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace latebind::platform {

// All of its bytes. The errors of MappedFile::open(), and kInvalidArgument when there are more than `most`.
[[nodiscard]] core::Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t most);

}  // namespace latebind::platform
