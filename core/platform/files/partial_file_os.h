// The system calls that PartialFile uses besides those of output_file_os.h; one implementation per system. Internal to
// core/platform.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

struct OpenedPartial {
  int handle = -1;  // its position is the end
  std::uint64_t size = 0;
};

[[nodiscard]] core::Result<OpenedPartial> open_partial(const std::filesystem::path& file);
// Ends it behind its first `size` bytes, and goes there.
[[nodiscard]] core::Status cut_partial(int handle, std::uint64_t size, const std::filesystem::path& file);
// Its current size, or `otherwise`.
[[nodiscard]] std::uint64_t size_of_partial(int handle, std::uint64_t otherwise);

}  // namespace latebind::platform
