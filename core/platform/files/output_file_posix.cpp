#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/platform/files/file_size_signal.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/output_file_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

std::optional<int> descriptor_number(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// Returns N for /dev/fd/N and /proc/self/fd/N, to which /dev/stdout and the like lead: an open file of this process.
std::optional<int> own_descriptor(const path& file) {
  const std::string_view text = file.native();
  for (const std::string_view folder : {"/proc/self/fd/", "/dev/fd/"}) {
    if (text.starts_with(folder)) return descriptor_number(text.substr(folder.size()));
  }
  return std::nullopt;
}

struct Target {
  path file;
  std::optional<int> descriptor;
};

// Follows the links at the end of a path, so that the file that a link leads to is replaced and the link stays. A link
// to a file that does not exist yet leads to the place where it will be.
Result<Target> follow_links(const path& file) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  path place = file;
  for (int followed = 0; followed < kMostLinks; ++followed) {
    if (const auto descriptor = own_descriptor(place)) return Target{place, descriptor};
    auto link = link_target(place);
    if (!link.ok()) return link.status().with_context("cannot write");
    if (!*link) return Target{place, std::nullopt};  // opening it reports other errors
    place = (*link)->is_absolute() ? **link : place.parent_path() / **link;
  }
  return status_of_errno("write", file, ELOOP);
}

Status folder_refusal(const path& target, const path& folder, int error) {
  switch (error) {
    case ENOENT:
      return Status(StatusCode::kNotFound, fmt::format("cannot write {}: the folder {} does not exist; create it first",
                                                       quoted(target), quoted(folder)));
    case EACCES:
    case EPERM:
    case EROFS:
      return Status(StatusCode::kPermissionDenied,
                    fmt::format("cannot write {}: cannot create a file in the folder {} ({}); write to another folder",
                                quoted(target), quoted(folder), std::generic_category().message(error)));
    default:
      return status_of_errno("write", target, error);
  }
}

Result<OpenedOutput> open_temporary(const path& target, const struct stat* present) {
  constexpr int kMostNames = 16;
  constexpr mode_t kEverybody = 0666;  // less the umask
  constexpr mode_t kOwner = 0600;
  const path folder = target.parent_path();
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    const path name = folder / new_temporary_name();
    const int handle = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                              present != nullptr ? kOwner : kEverybody);
    if (handle >= 0) {
      // Shows remove_abandoned_outputs() that the writer is alive. On a file system without locks, nothing is removed.
      static_cast<void>(::flock(handle, LOCK_EX | LOCK_NB));
      // A replaced file keeps its permissions.
      if (present != nullptr && ::fchmod(handle, present->st_mode & 0777) != 0) {
        const int error = errno;
        close_output_quietly(handle);
        remove_output_quietly(name);
        return status_of_errno("write", target, error);
      }
      return OpenedOutput{handle, target, name};
    }
    if (errno != EEXIST) return folder_refusal(target, folder, errno);
  }
  return status_of_errno("write", target, EEXIST);
}

Result<OpenedOutput> open_special(const path& target) {
  // The flags prevent three things: creating the target if it was just removed, making it the controlling terminal, and
  // waiting for a pipe that nobody reads.
  const int handle = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (handle < 0) {
    if (errno != ENXIO) return status_of_errno("write", target, errno);
    return Status(StatusCode::kIo, fmt::format("cannot write {}: the pipe has no reader", quoted(target)));
  }
  // Only opening must not wait.
  const int flags = ::fcntl(handle, F_GETFL);
  if (flags < 0 || ::fcntl(handle, F_SETFL, flags & ~O_NONBLOCK) < 0) {
    const int error = errno;
    close_output_quietly(handle);
    return status_of_errno("write", target, error);
  }
  return OpenedOutput{handle, target, {}};
}

template <class Call>
Status write_all(const char* data, std::size_t size, const path& file, const Call& call) {
  const NoFileSizeSignal limit_is_an_error;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t written = call(data + done, size - done, done);
    if (written > 0) {
      done += static_cast<std::size_t>(written);
    } else if (written == 0) {
      return status_of_errno("write", file, ENOSPC);  // a device that takes no more bytes
    } else if (errno != EINTR) {
      return status_of_errno("write", file, errno);
    }
  }
  return Status();
}

// Makes the new name survive a power failure. Some file systems cannot do this, but the file itself is on the disk by
// now.
void sync_folder_of(const path& target) {
  const path folder = target.parent_path();
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;
  ::fsync(handle);
  ::close(handle);
}

}  // namespace

Result<OpenedOutput> open_output(const path& file) {
  LB_ASSIGN_OR_RETURN(Target target, follow_links(file));
  if (target.descriptor) {
    const int handle = ::fcntl(*target.descriptor, F_DUPFD_CLOEXEC, 3);
    if (handle < 0) return status_of_errno("write", file, errno);
    return OpenedOutput{handle, file, {}};
  }
  // Makes the path absolute, so that commit() finds it if the program changes its current folder meanwhile.
  std::error_code error;
  target.file = std::filesystem::absolute(target.file, error);
  if (error) return status_of_errno("write", file, error.value());
  struct stat info {};
  if (::stat(target.file.c_str(), &info) != 0) {
    if (errno != ENOENT) return status_of_errno("write", target.file, errno);
    if (!target.file.has_filename()) return status_of_errno("write", target.file, EISDIR);
    return open_temporary(target.file, nullptr);
  }
  if (S_ISDIR(info.st_mode)) return status_of_errno("write", target.file, EISDIR);
  if (!S_ISREG(info.st_mode)) return open_special(target.file);
  // A rename would bypass the protection of a file that its owner has made read-only.
  if (::faccessat(AT_FDCWD, target.file.c_str(), W_OK, AT_EACCESS) != 0) {
    return status_of_errno("write", target.file, errno);
  }
  return open_temporary(target.file, &info);
}

Status write_output(int handle, const char* data, std::size_t size, const path& file) {
  return write_all(data, size, file, [handle](const char* bytes, std::size_t count, std::size_t) {
    return ::write(handle, bytes, count);
  });
}

Status write_output_at(int handle, std::size_t offset, const char* data, std::size_t size, const path& file) {
  return write_all(data, size, file, [handle, offset](const char* bytes, std::size_t count, std::size_t done) {
    return ::pwrite(handle, bytes, count, static_cast<off_t>(offset + done));
  });
}

Status sync_output(int handle, const path& file) {
  int result = 0;
  do {
    result = ::fsync(handle);
  } while (result != 0 && errno == EINTR);
  // Pipes, terminals and some file systems have nothing to sync.
  if (result == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS) return Status();
  return status_of_errno("write", file, errno);
}

Status close_output(int handle, const path& file) {
  // After EINTR the descriptor is closed on Linux; closing it again could close another thread's file.
  if (::close(handle) == 0 || errno == EINTR) return Status();
  return status_of_errno("write", file, errno);
}

Status replace_output(const path& temporary, const path& target, Sync sync) {
  if (::rename(temporary.c_str(), target.c_str()) != 0) return status_of_errno("write", target, errno);
  if (sync == Sync::kToDisk) sync_folder_of(target);
  return Status();
}

bool is_abandoned(const path& temporary) noexcept {
  const int handle = ::open(temporary.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (handle < 0) return false;
  const bool abandoned = ::flock(handle, LOCK_EX | LOCK_NB) == 0;
  ::close(handle);
  return abandoned;
}

void close_output_quietly(int handle) noexcept {
  ::close(handle);
}

void remove_output_quietly(const path& temporary) noexcept {
  ::unlink(temporary.c_str());
}

bool can_replace_mapped_files() {
  return true;
}

}  // namespace latebind::platform
