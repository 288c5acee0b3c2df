// What page_release.cpp needs of the operating system. Internal to core/platform. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace latebind::platform {

// Those parts of the bytes that lie in mappings of files that are read-only and have no private page: whatever is
// dropped of them can be read again. None when the system does not report them.
[[nodiscard]] std::vector<std::span<const std::byte>> unwritten_file_parts(std::span<const std::byte> bytes);

// Drops the pages that lie completely within such a part. Errors are not reported, since the pages then just stay.
void drop_pages(std::span<const std::byte> part);

}  // namespace latebind::platform
