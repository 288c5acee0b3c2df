// Files that people edit. They are read instead of mapped, because an editor may truncate one while it is being read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/result.h"

namespace latebind::platform {

// Returns all bytes of the file. Fails as MappedFile::open() does, and with kInvalidArgument when there are more than
// `most`. May be called from any thread.
[[nodiscard]] core::Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t most);

}  // namespace latebind::platform
