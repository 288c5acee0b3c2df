// The counterpart of os_error.h for Windows calls, which report GetLastError() instead of errno. Internal to
// core/platform's Windows files. This header also includes the system's own, trimmed of its macros.
//
// All functions may be called from any thread.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::platform {

// Returns the system's message for an error, in UTF-8, on one line and without the full stop.
[[nodiscard]] std::string windows_error_text(DWORD error);

// Like status_of_errno(), for a value of GetLastError().
[[nodiscard]] core::Status status_of_windows_error(std::string_view action, const std::filesystem::path& path,
                                                   DWORD error);

[[nodiscard]] core::StatusCode code_of_windows_error(DWORD error);

// Convert UTF-16 to UTF-8 and back. Invalid sequences become U+FFFD.
[[nodiscard]] std::string utf8_of(std::wstring_view text);
[[nodiscard]] std::wstring utf16_of(std::string_view text);

// Owns a handle and closes it with CloseHandle().
class WindowsHandle {
 public:
  explicit WindowsHandle(HANDLE handle) : handle_(handle) {}
  WindowsHandle(const WindowsHandle&) = delete;
  WindowsHandle& operator=(const WindowsHandle&) = delete;
  ~WindowsHandle() {
    if (is_open()) ::CloseHandle(handle_);
  }

  [[nodiscard]] bool is_open() const { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
  [[nodiscard]] HANDLE get() const { return handle_; }
  // Releases ownership of the handle.
  [[nodiscard]] HANDLE release() {
    const HANDLE handle = handle_;
    handle_ = nullptr;
    return handle;
  }

 private:
  HANDLE handle_;
};

}  // namespace latebind::platform
