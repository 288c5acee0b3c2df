#include "core/platform/os_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

std::string_view remedy_of(StatusCode code, int error) {
  if (code == StatusCode::kDiskFull) return "; free some space there, or write to another disk";
  if (error == EMFILE || error == ENFILE) {
    return "; close files, or raise the limit (ulimit -n)";
  }
  if (error == EFBIG) return "; raise the limit on file sizes (ulimit -f), or write less";
  if (error == EPIPE) return "; the reader has closed it";
  return "";
}

}  // namespace

std::string quoted(const std::filesystem::path& path) {
  // The path is never cut, because the reader looks for it.
  return core::quoted(path_to_utf8(path), std::string::npos);
}

Status check_path(std::string_view action, const std::filesystem::path& path) {
  if (path.empty()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot {}: an empty path", action));
  }
  if (path.native().find(std::filesystem::path::value_type{0}) != std::filesystem::path::string_type::npos) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot {} {}: the path contains a zero byte", action, quoted(path)));
  }
  return Status();
}

StatusCode code_of_errno(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return StatusCode::kPermissionDenied;
    // NOLINTNEXTLINE(bugprone-branch-clone): two errors, one meaning
    case ENOSPC:
      return StatusCode::kDiskFull;
#ifdef EDQUOT
    case EDQUOT:
      return StatusCode::kDiskFull;
#endif
    case ENOMEM:
      return StatusCode::kOutOfMemory;
    case EISDIR:
    case ENAMETOOLONG:
      return StatusCode::kInvalidArgument;
    default:
      return StatusCode::kIo;
  }
}

Status status_of_errno(std::string_view action, const std::filesystem::path& path, int error) {
  const StatusCode code = code_of_errno(error);
  return Status(code, fmt::format("cannot {} {}: {}{}", action, quoted(path), std::generic_category().message(error),
                                  remedy_of(code, error)));
}

}  // namespace latebind::platform
