#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core/platform/files/output_file_os.h"
#include "core/platform/files/output_folder_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// RENAME_EXCHANGE of linux/fs.h, which not every C library defines.
constexpr unsigned kExchange = 2;

// Makes the new name survive a power failure.
void sync_folder(const path& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

// Returns the permissions of the folder at a place, if there is one.
std::optional<mode_t> rights_of(const path& folder) {
  struct stat info {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return std::nullopt;
  return info.st_mode & 07777;
}

// Gives a folder the permissions of the folder that it replaces. Until then, and if the system refuses, it is private
// to its owner. This is done last, because a folder without write permission could neither be filled nor removed after
// an error.
void keep_rights(const path& folder, std::optional<mode_t> rights) {
  if (rights) static_cast<void>(::chmod(folder.c_str(), *rights));
}

Status exchange_in_steps(const path& temporary, const path& target) {
  const path aside = target.parent_path() / new_temporary_name(".old");
  if (::rename(target.c_str(), aside.c_str()) != 0) return status_of_errno("replace", target, errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    const int error = errno;
    if (::rename(aside.c_str(), target.c_str()) != 0) {
      return Status(StatusCode::kIo, fmt::format("cannot replace {}: the previous content is now {}; move it back",
                                                 quoted(target), quoted(aside)));
    }
    return status_of_errno("replace", target, error);
  }
  if (::rename(aside.c_str(), temporary.c_str()) == 0) return Status();
  return Status(StatusCode::kIo,
                fmt::format("{} was replaced, but its previous content could not be removed and is now {}",
                            quoted(target), quoted(aside)));
}

}  // namespace

Result<OpenedFolder> make_temporary_folder(const path& parent, const path& target) {
  constexpr int kMostNames = 16;
  constexpr mode_t kEverybody = 0777;  // less the umask
  constexpr mode_t kOwner = 0700;
  const mode_t rights = rights_of(target) ? kOwner : kEverybody;
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    const path name = parent / new_temporary_name();
    if (::mkdir(name.c_str(), rights) != 0) {
      if (errno == EEXIST) continue;
      if (errno == ENOENT) {
        return Status(StatusCode::kNotFound,
                      fmt::format("cannot write {}: the folder {} does not exist; create it first", quoted(target),
                                  quoted(parent)));
      }
      return status_of_errno("write", target, errno);
    }
    const int handle = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    // On a file system without locks, no abandoned folder is removed.
    if (handle >= 0) static_cast<void>(::flock(handle, LOCK_EX | LOCK_NB));
    return OpenedFolder{name, handle};
  }
  return status_of_errno("write", target, EEXIST);
}

void close_folder_quietly(std::intptr_t handle) noexcept {
  if (handle >= 0) ::close(static_cast<int>(handle));
}

Result<bool> place_folder(const path& temporary, const path& target) {
  const auto rights = rights_of(target);
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    if (errno == ENOTEMPTY || errno == EEXIST) return false;
    return status_of_errno("write", target, errno);
  }
  keep_rights(target, rights);
  sync_folder(target.parent_path());
  return true;
}

Status exchange_folders(const path& temporary, const path& target) {
  if (::syscall(SYS_renameat2, AT_FDCWD, temporary.c_str(), AT_FDCWD, target.c_str(), kExchange) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return status_of_errno("replace", target, errno);
    LB_RETURN_IF_ERROR(exchange_in_steps(temporary, target));
  }
  keep_rights(target, rights_of(temporary));
  sync_folder(target.parent_path());
  return Status();
}

bool is_abandoned_folder(const path& temporary) noexcept {
  return is_abandoned(temporary);
}

}  // namespace latebind::platform
