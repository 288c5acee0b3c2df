#include "core/platform/windows_error.h"

#include <fmt/format.h>

#include <array>

#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

namespace {

constexpr DWORD kDiskQuotaExceeded = 1295;  // ERROR_DISK_QUOTA_EXCEEDED, which not every winerror.h has

}  // namespace

std::string utf8_of(std::wstring_view text) {
  if (text.empty()) return {};
  const int count = static_cast<int>(text.size());
  const int size = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), count, nullptr, 0, nullptr, nullptr);
  std::string result(static_cast<std::size_t>(size), '\0');
  ::WideCharToMultiByte(CP_UTF8, 0, text.data(), count, result.data(), size, nullptr, nullptr);
  return result;
}

std::wstring utf16_of(std::string_view text) {
  if (text.empty()) return {};
  const int count = static_cast<int>(text.size());
  const int size = ::MultiByteToWideChar(CP_UTF8, 0, text.data(), count, nullptr, 0);
  std::wstring result(static_cast<std::size_t>(size), L'\0');
  ::MultiByteToWideChar(CP_UTF8, 0, text.data(), count, result.data(), size);
  return result;
}

std::string windows_error_text(DWORD error) {
  std::array<wchar_t, 512> buffer{};
  const DWORD size =
      ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK,
                       nullptr, error, 0, buffer.data(), static_cast<DWORD>(buffer.size()), nullptr);
  std::wstring_view text(buffer.data(), size);
  while (!text.empty() && (text.back() == L' ' || text.back() == L'.'))
    text.remove_suffix(1);
  if (text.empty()) return fmt::format("Windows error {}", error);
  std::string words = utf8_of(text);
  // The system leaves a placeholder for the name, which it does not know.
  if (const auto gap = words.find("%1"); gap != std::string::npos) words.replace(gap, 2, "the file");
  return words;
}

StatusCode code_of_windows_error(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
      return StatusCode::kNotFound;
    case ERROR_ACCESS_DENIED:
    case ERROR_WRITE_PROTECT:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_PRIVILEGE_NOT_HELD:
      return StatusCode::kPermissionDenied;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL:
    case kDiskQuotaExceeded:
      return StatusCode::kDiskFull;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT:
      return StatusCode::kOutOfMemory;
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME:
    case ERROR_FILENAME_EXCED_RANGE:
      return StatusCode::kInvalidArgument;
    default:
      return StatusCode::kIo;
  }
}

Status status_of_windows_error(std::string_view action, const std::filesystem::path& path, DWORD error) {
  const StatusCode code = code_of_windows_error(error);
  std::string_view remedy;
  if (code == StatusCode::kDiskFull) remedy = "; free some space there, or write to another disk";
  if (error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION) {
    remedy = "; close the program that has it open";
  }
  if (error == ERROR_BROKEN_PIPE || error == ERROR_NO_DATA) remedy = "; the reader has closed it";
  return Status(code, fmt::format("cannot {} {}: {}{}", action, quoted(path), windows_error_text(error), remedy));
}

}  // namespace latebind::platform
