#include "core/platform/files/folders.h"

#include <algorithm>
#include <system_error>

namespace latebind::platform {

std::filesystem::path anchored(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(file, error);
  return error ? file : absolute;
}

std::filesystem::path without_slash(const std::filesystem::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

bool is_within(const std::filesystem::path& place, const std::filesystem::path& folder) {
  return std::ranges::mismatch(folder, place).in1 == folder.end();
}

}  // namespace latebind::platform
