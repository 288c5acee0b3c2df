// The system calls that PartialFile uses besides those of output_file_os.h, with one implementation per system.
// Internal to core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

struct OpenedPartial {
  int handle = -1;  // positioned at the end
  std::uint64_t size = 0;
};

[[nodiscard]] core::Result<OpenedPartial> open_partial(const std::filesystem::path& file);
// Truncates the file to `size` bytes and moves its position there.
[[nodiscard]] core::Status cut_partial(int handle, std::uint64_t size, const std::filesystem::path& file);
// Returns the file's current size, or `otherwise` if that is not known.
[[nodiscard]] std::uint64_t size_of_partial(int handle, std::uint64_t otherwise);

}  // namespace latebind::platform
