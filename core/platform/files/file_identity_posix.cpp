#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/file_identity_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

std::int64_t nanoseconds_of(const struct timespec& time) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  return static_cast<std::int64_t>(time.tv_sec) * kNanoseconds + static_cast<std::int64_t>(time.tv_nsec);
}

core::Result<FileIdentity> identity_of(const struct stat& info, const std::filesystem::path& file) {
  if (!S_ISREG(info.st_mode)) {
    return core::Status(core::StatusCode::kInvalidArgument, fmt::format("{} is not a regular file", quoted(file)));
  }
  return FileIdentity{.size = static_cast<std::uint64_t>(info.st_size),
                      .modified_ns = nanoseconds_of(info.st_mtim),
                      .changed_ns = nanoseconds_of(info.st_ctim),
                      .file = static_cast<std::uint64_t>(info.st_ino),
                      .device = static_cast<std::uint64_t>(info.st_dev)};
}

}  // namespace

core::Result<FileIdentity> file_identity(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("look at", file));
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return status_of_errno("look at", file, errno);
  return identity_of(info, file);
}

core::Result<FileIdentity> identity_of_open_file(std::intptr_t handle, const std::filesystem::path& file) {
  struct stat info {};
  if (::fstat(static_cast<int>(handle), &info) != 0) return status_of_errno("look at", file, errno);
  return identity_of(info, file);
}

std::int64_t age_ns(const FileIdentity& identity) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() -
         std::max(identity.modified_ns, identity.changed_ns);
}

}  // namespace latebind::platform
