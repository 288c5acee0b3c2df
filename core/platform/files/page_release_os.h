// The system calls that page_release.cpp uses. Internal to core/platform. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace latebind::platform {

// Returns the parts of the bytes that are in read-only mappings of files and have no private page: their pages can be
// dropped and read again. Empty when the system does not report them.
[[nodiscard]] std::vector<std::span<const std::byte>> unwritten_file_parts(std::span<const std::byte> bytes);

// Drops the pages that are completely within such a part. Errors are not reported, because the pages then just stay.
void drop_pages(std::span<const std::byte> part);

}  // namespace latebind::platform
