#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/platform/environment.h"
#include "core/platform/files/temporary_folder_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Result;
using std::filesystem::path;

Result<path> temporary_place() {
  const auto base = trusted_environment("TMPDIR");
  return path(base && base->starts_with('/') ? *base : "/tmp");
}

Result<path> make_private_folder(const path& place, std::string_view prefix) {
  // mkdtemp() creates the name and the folder in one step, private to this user.
  std::string name = fmt::format("{}/{}-XXXXXX", place.string(), prefix);
  if (::mkdtemp(name.data()) == nullptr) return status_of_errno("make the temporary folder", name, errno);
  return path(name);
}

bool is_private_folder(const path& folder) noexcept {
  struct stat info {};
  return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() &&
         (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

}  // namespace latebind::platform
