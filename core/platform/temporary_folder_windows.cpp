#include <fmt/format.h>

#include <random>

#include "core/platform/environment.h"
#include "core/platform/temporary_folder.h"
#include "core/platform/windows_error.h"
#include "core/platform/windows_path.h"

namespace latebind::platform {

core::Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  std::error_code error;
  // Below the user's own profile, whose access list keeps others out.
  const std::filesystem::path base = std::filesystem::temp_directory_path(error);
  if (error) {
    return core::Status(core::StatusCode::kIo,
                        fmt::format("the folder for temporary files cannot be used (TMP is '{}'): {}; set TMP to one "
                                    "that is there",
                                    environment("TMP").value_or(""), error.message()));
  }
  constexpr int kAttempts = 16;
  std::random_device random;
  for (int i = 0; i < kAttempts; ++i) {
    auto path = base / fmt::format("{}-{:08x}{:08x}", purpose, random(), random());
    if (::CreateDirectoryW(long_path(path).c_str(), nullptr) != 0) return TemporaryFolder(std::move(path));
    const DWORD reason = ::GetLastError();
    if (reason != ERROR_ALREADY_EXISTS) return status_of_windows_error("make the temporary folder", path, reason);
  }
  return core::Status(core::StatusCode::kIo, "every name for a temporary folder is taken");
}

}  // namespace latebind::platform
