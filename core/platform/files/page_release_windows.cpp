#include "core/platform/files/page_release_os.h"

namespace latebind::platform {

// Windows trims the pages of mapped files by itself, and cannot report which pages were written to.
std::vector<std::span<const std::byte>> unwritten_file_parts(std::span<const std::byte> /*bytes*/) {
  return {};
}

void drop_pages(std::span<const std::byte> /*part*/) {}

}  // namespace latebind::platform
