#include "core/platform/files/new_file.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

core::Result<bool> place_new_file(const std::filesystem::path& finished, const std::filesystem::path& place) {
  if (::MoveFileExW(long_path(finished).c_str(), long_path(place).c_str(), MOVEFILE_WRITE_THROUGH) != 0) return true;
  const DWORD error = ::GetLastError();
  if (error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS) return false;
  return status_of_windows_error("write", place, error);
}

}  // namespace latebind::platform
