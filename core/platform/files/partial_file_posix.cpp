#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/platform/files/output_file_os.h"
#include "core/platform/files/partial_file_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

Result<OpenedPartial> open_partial(const path& file) {
  constexpr mode_t kEverybody = 0666;  // less the umask
  // O_NOFOLLOW, because a link could lead anywhere; O_NONBLOCK, so that opening a pipe does not wait for its other end.
  const int handle = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kEverybody);
  if (handle < 0) return status_of_errno("write", file, errno);
  struct stat info {};
  if (::fstat(handle, &info) != 0 || !S_ISREG(info.st_mode)) {
    close_output_quietly(handle);
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write {}: it is not a regular file; remove it", quoted(file)));
  }
  if (::lseek(handle, 0, SEEK_END) < 0) {
    const int error = errno;
    close_output_quietly(handle);
    return status_of_errno("write", file, error);
  }
  return OpenedPartial{handle, static_cast<std::uint64_t>(info.st_size)};
}

Status cut_partial(int handle, std::uint64_t size, const path& file) {
  const auto end = static_cast<off_t>(size);
  const bool is_cut = ::ftruncate(handle, end) == 0 && ::lseek(handle, end, SEEK_SET) == end;
  return is_cut ? Status() : status_of_errno("write", file, errno);
}

std::uint64_t size_of_partial(int handle, std::uint64_t otherwise) {
  struct stat info {};
  return ::fstat(handle, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : otherwise;
}

}  // namespace latebind::platform
