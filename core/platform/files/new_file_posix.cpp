#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/platform/files/new_file.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

core::Result<bool> place_new_file(const std::filesystem::path& finished, const std::filesystem::path& place) {
  // RENAME_NOREPLACE of linux/fs.h, which not every C library defines.
  constexpr unsigned kNoReplace = 1;
  if (::syscall(SYS_renameat2, AT_FDCWD, finished.c_str(), AT_FDCWD, place.c_str(), kNoReplace) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) return status_of_errno("write", place, errno);
  // An old file system: the file has two names for a moment.
  if (::link(finished.c_str(), place.c_str()) == 0) {
    ::unlink(finished.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  // A file system without hard links.
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(place, error))) return false;
  if (::rename(finished.c_str(), place.c_str()) != 0) return status_of_errno("write", place, errno);
  return true;
}

}  // namespace latebind::platform
