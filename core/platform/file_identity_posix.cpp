#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>

#include "core/platform/file_identity.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

core::Result<FileIdentity> file_identity(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("look at", file));
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return status_of_errno("look at", file, errno);
  if (!S_ISREG(info.st_mode)) {
    return core::Status(core::StatusCode::kInvalidArgument, fmt::format("{} is no regular file", quoted(file)));
  }
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return FileIdentity{.size = static_cast<std::uint64_t>(info.st_size),
                      .modified_ns = static_cast<std::int64_t>(info.st_mtim.tv_sec) * kNanoseconds +
                                     static_cast<std::int64_t>(info.st_mtim.tv_nsec),
                      .file = static_cast<std::uint64_t>(info.st_ino),
                      .device = static_cast<std::uint64_t>(info.st_dev)};
}

std::int64_t age_ns(const FileIdentity& identity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - identity.modified_ns;
}

}  // namespace latebind::platform
