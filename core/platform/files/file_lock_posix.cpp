#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "core/platform/files/file_lock_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// False when the file was removed or replaced meanwhile: the lock that was taken then excludes nobody.
bool is_still_there(int descriptor, const path& file) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

}  // namespace

Result<std::intptr_t> try_lock_file(const path& file) {
  constexpr mode_t kGroupToo = 0664;  // less the umask; a group may share a folder
  for (;;) {
    // A link would create the file in a place that another user chose.
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kGroupToo);
    if (descriptor < 0 && errno == ELOOP) {
      return Status(StatusCode::kPermissionDenied,
                    fmt::format("cannot lock {}: it is a link, not a file; remove it", quoted(file)));
    }
    if (descriptor < 0) return status_of_errno("lock", file, errno);
    int result = 0;
    do {
      result = ::flock(descriptor, LOCK_EX | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    const int error = errno;
    if (result == 0 && is_still_there(descriptor, file)) return std::intptr_t{descriptor};
    ::close(descriptor);
    if (result == 0) continue;
    if (error == EWOULDBLOCK) return std::intptr_t{-1};
    if (error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP) {
      return Status(
          StatusCode::kIo,
          fmt::format("cannot lock {}: this file system does not support locks; choose a folder on another one",
                      quoted(file)));
    }
    return status_of_errno("lock", file, error);
  }
}

void unlock_file(std::intptr_t handle) noexcept {
  ::close(static_cast<int>(handle));
}

void unlock_and_remove_file(std::intptr_t handle, const path& file) noexcept {
  // Removes the file while the lock is held. A later holder sees that its file is gone.
  if (is_still_there(static_cast<int>(handle), file)) ::unlink(file.c_str());
  unlock_file(handle);
}

}  // namespace latebind::platform
