#include <fmt/format.h>

#include "core/platform/environment.h"
#include "core/platform/files/temporary_folder_os.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/random.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

using core::Result;
using std::filesystem::path;

// The place is below the user's own profile, whose access list keeps others out.
Result<path> temporary_place() {
  std::error_code error;
  path base = std::filesystem::temp_directory_path(error);
  if (error) {
    return core::Status(
        core::StatusCode::kIo,
        fmt::format("cannot use the folder for temporary files (TMP is '{}'): {}; set TMP to an existing folder",
                    environment("TMP").value_or(""), error.message()));
  }
  return base;
}

Result<path> make_private_folder(const path& place, std::string_view prefix) {
  constexpr int kAttempts = 16;
  for (int i = 0; i < kAttempts; ++i) {
    auto folder = place / fmt::format("{}-{:016x}", prefix, random_number());
    if (::CreateDirectoryW(long_path(folder).c_str(), nullptr) != 0) return folder;
    const DWORD reason = ::GetLastError();
    if (reason != ERROR_ALREADY_EXISTS) return status_of_windows_error("make the temporary folder", folder, reason);
  }
  return core::Status(core::StatusCode::kIo, "every name for a temporary folder is taken");
}

bool is_private_folder(const path& folder) noexcept {
  try {
    const DWORD attributes = ::GetFileAttributesW(long_path(folder).c_str());
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
           (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace latebind::platform
