// Huge pages: memory of which the system maps a large piece at once, which takes less time to touch first and to find
// later.
#pragma once

#include <cstddef>
#include <span>

namespace latebind::platform {

// Of such a page, in bytes. Memory that is at least as large should begin at a multiple of it.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Asks for huge pages where the system has them, for memory that was not touched yet. It may not follow. Any thread.
void prefer_huge_pages(std::span<std::byte> memory) noexcept;

}  // namespace latebind::platform
