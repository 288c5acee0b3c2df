#include <fcntl.h>
#include <fmt/format.h>
#include <io.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/platform/files/output_file.h"
#include "core/platform/files/output_file_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
constexpr std::size_t kLargestWrite = std::size_t{64} * 1024 * 1024;

HANDLE handle_of(int descriptor) {
  return reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
}

// Passes the handle to a descriptor of the C runtime.
Result<int> descriptor_of(WindowsHandle& handle, const path& file) {
  const int descriptor = ::_open_osfhandle(reinterpret_cast<intptr_t>(handle.get()), _O_BINARY | _O_NOINHERIT);
  if (descriptor < 0) return status_of_errno("write", file, errno);
  static_cast<void>(handle.release());
  return descriptor;
}

Result<OpenedOutput> open_temporary(const path& target) {
  constexpr int kMostNames = 16;
  const path folder = target.parent_path();
  for (int attempt = 0; attempt < kMostNames; ++attempt) {
    const path name = folder / new_temporary_name();
    WindowsHandle handle(::CreateFileW(long_path(name).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE,
                                       nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!handle.is_open()) {
      const DWORD error = ::GetLastError();
      if (error == ERROR_FILE_EXISTS) continue;
      if (error == ERROR_PATH_NOT_FOUND) {
        return Status(StatusCode::kNotFound,
                      fmt::format("cannot write {}: the folder {} does not exist; create it first", quoted(target),
                                  quoted(folder)));
      }
      if (error == ERROR_ACCESS_DENIED) {
        return Status(
            StatusCode::kPermissionDenied,
            fmt::format("cannot write {}: cannot create a file in the folder {} ({}); write to another folder",
                        quoted(target), quoted(folder), windows_error_text(error)));
      }
      return status_of_windows_error("write", target, error);
    }
    auto descriptor = descriptor_of(handle, target);
    if (!descriptor.ok()) {
      remove_output_quietly(name);
      return descriptor.status();
    }
    return OpenedOutput{*descriptor, target, name};
  }
  return status_of_windows_error("write", target, ERROR_FILE_EXISTS);
}

// Returns the file that a link leads to, so that the link stays.
path final_path(HANDLE handle, const path& otherwise) {
  std::wstring name(1024, L'\0');
  DWORD size = ::GetFinalPathNameByHandleW(handle, name.data(), static_cast<DWORD>(name.size()), FILE_NAME_NORMALIZED);
  if (size >= name.size()) {
    name.resize(size);
    size = ::GetFinalPathNameByHandleW(handle, name.data(), static_cast<DWORD>(name.size()), FILE_NAME_NORMALIZED);
  }
  if (size == 0 || size >= name.size()) return otherwise;
  name.resize(size);
  return plain_path(std::move(name));
}

// Makes the path absolute, so that commit() finds it if the program changes its current folder meanwhile.
path full_path(const path& file) {
  std::error_code error;
  path full = std::filesystem::absolute(file, error);
  return error ? file : full;
}

bool is_device_path(const path& file) {
  const std::wstring& text = file.native();
  return text.starts_with(LR"(\\.\)") || text.starts_with(L"//./");
}

}  // namespace

Result<OpenedOutput> open_output(const path& file) {
  const DWORD attributes = ::GetFileAttributesW(long_path(file).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES && !is_device_path(file)) {
    const DWORD error = ::GetLastError();
    if (error != ERROR_FILE_NOT_FOUND && error != ERROR_PATH_NOT_FOUND) {
      return status_of_windows_error("write", file, error);
    }
    if (!file.has_filename()) return status_of_errno("write", file, EISDIR);
    return open_temporary(full_path(file));
  }
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return status_of_errno("write", file, EISDIR);
  }
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_READONLY) != 0) {
    return status_of_windows_error("write", file, ERROR_ACCESS_DENIED);
  }
  // Opens the target to see what it is and whether it may be written, because a rename would replace a read-only file.
  WindowsHandle handle(::CreateFileW(long_path(file).c_str(), GENERIC_WRITE, kShareAll, nullptr, OPEN_EXISTING,
                                     FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!handle.is_open()) return status_of_windows_error("write", file, ::GetLastError());
  if (::GetFileType(handle.get()) == FILE_TYPE_DISK) {
    const bool is_link = (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
    return open_temporary(is_link ? final_path(handle.get(), full_path(file)) : full_path(file));
  }
  LB_ASSIGN_OR_RETURN(const int descriptor, descriptor_of(handle, file));
  return OpenedOutput{descriptor, file, {}};
}

Status write_output(int handle, const char* data, std::size_t size, const path& file) {
  while (size > 0) {
    DWORD written = 0;
    const auto count = static_cast<DWORD>(std::min(size, kLargestWrite));
    if (::WriteFile(handle_of(handle), data, count, &written, nullptr) == 0) {
      return status_of_windows_error("write", file, ::GetLastError());
    }
    if (written == 0) return status_of_windows_error("write", file, ERROR_DISK_FULL);
    data += written;
    size -= written;
  }
  return Status();
}

Status write_output_at(int handle, std::size_t offset, const char* data, std::size_t size, const path& file) {
  // Unlike pwrite(), a write with an offset also moves the position of the handle.
  LARGE_INTEGER zero{};
  LARGE_INTEGER before{};
  if (::SetFilePointerEx(handle_of(handle), zero, &before, FILE_CURRENT) == 0) {
    return status_of_windows_error("write", file, ::GetLastError());
  }
  LARGE_INTEGER place{};
  place.QuadPart = static_cast<LONGLONG>(offset);
  if (::SetFilePointerEx(handle_of(handle), place, nullptr, FILE_BEGIN) == 0) {
    return status_of_windows_error("write", file, ::GetLastError());
  }
  const Status status = write_output(handle, data, size, file);
  if (::SetFilePointerEx(handle_of(handle), before, nullptr, FILE_BEGIN) == 0 && status.ok()) {
    return status_of_windows_error("write", file, ::GetLastError());
  }
  return status;
}

Status sync_output(int handle, const path& file) {
  if (::GetFileType(handle_of(handle)) != FILE_TYPE_DISK) return Status();
  if (::FlushFileBuffers(handle_of(handle)) != 0) return Status();
  return status_of_windows_error("write", file, ::GetLastError());
}

Status close_output(int handle, const path& file) {
  return ::_close(handle) == 0 ? Status() : status_of_errno("write", file, errno);
}

// Uses MoveFileEx instead of ReplaceFile, which can fail half way and leave neither the old file nor the new one in
// place.
Status replace_output(const path& temporary, const path& target, Sync sync) {
  const DWORD flags = MOVEFILE_REPLACE_EXISTING | (sync == Sync::kToDisk ? MOVEFILE_WRITE_THROUGH : 0);
  // Another commit of the same place, or a virus scanner, may hold the file for a moment.
  constexpr int kMostAttempts = 50;
  constexpr DWORD kPauseMs = 10;
  for (int attempt = 1;; ++attempt) {
    if (::MoveFileExW(long_path(temporary).c_str(), long_path(target).c_str(), flags) != 0) return Status();
    const DWORD error = ::GetLastError();
    const bool may_pass = error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION;
    if (!may_pass || attempt == kMostAttempts) return status_of_windows_error("write", target, error);
    ::Sleep(kPauseMs);
  }
}

// The writer's handle shares neither writing nor exclusive reading.
bool is_abandoned(const path& temporary) noexcept {
  const WindowsHandle handle(::CreateFileW(long_path(temporary).c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING,
                                           FILE_ATTRIBUTE_NORMAL, nullptr));
  return handle.is_open();
}

void close_output_quietly(int handle) noexcept {
  ::_close(handle);
}

void remove_output_quietly(const path& temporary) noexcept {
  ::DeleteFileW(long_path(temporary).c_str());
}

bool can_replace_mapped_files() {
  return false;
}

}  // namespace latebind::platform
