#include <fmt/format.h>

#include <algorithm>

#include "core/platform/files/file_identity.h"
#include "core/platform/files/file_identity_os.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

std::uint64_t joined(DWORD high, DWORD low) {
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

constexpr std::int64_t kTickNs = 100;  // the system's unit

std::int64_t nanoseconds_of(const FILETIME& time) {
  return static_cast<std::int64_t>(joined(time.dwHighDateTime, time.dwLowDateTime)) * kTickNs;
}

}  // namespace

core::Result<FileIdentity> file_identity(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("look at", file));
  const WindowsHandle handle(::CreateFileW(long_path(file).c_str(), FILE_READ_ATTRIBUTES,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                           OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!handle.is_open()) return status_of_windows_error("look at", file, ::GetLastError());
  return identity_of_open_file(reinterpret_cast<std::intptr_t>(handle.get()), file);
}

core::Result<FileIdentity> identity_of_open_file(std::intptr_t handle, const std::filesystem::path& file) {
  auto* const opened = reinterpret_cast<HANDLE>(handle);
  BY_HANDLE_FILE_INFORMATION info{};
  FILE_BASIC_INFO times{};
  if (::GetFileInformationByHandle(opened, &info) == 0 ||
      ::GetFileInformationByHandleEx(opened, FileBasicInfo, &times, sizeof(times)) == 0) {
    return status_of_windows_error("look at", file, ::GetLastError());
  }
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return core::Status(core::StatusCode::kInvalidArgument, fmt::format("{} is not a regular file", quoted(file)));
  }
  return FileIdentity{.size = joined(info.nFileSizeHigh, info.nFileSizeLow),
                      .modified_ns = nanoseconds_of(info.ftLastWriteTime),
                      .changed_ns = times.ChangeTime.QuadPart * kTickNs,
                      .file = joined(info.nFileIndexHigh, info.nFileIndexLow),
                      .device = info.dwVolumeSerialNumber};
}

std::int64_t age_ns(const FileIdentity& identity) {
  FILETIME now{};
  ::GetSystemTimeAsFileTime(&now);
  return nanoseconds_of(now) - std::max(identity.modified_ns, identity.changed_ns);
}

}  // namespace latebind::platform
