#include <fmt/format.h>

#include <thread>
#include <utility>

#include "core/platform/file_lock.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {

core::Result<FileLock> FileLock::acquire(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{5};
  LB_RETURN_IF_ERROR(check_path("lock", file));
  const auto limit = Clock::now() + patience;
  // An open handle that shares nothing is the lock.
  for (;;) {
    WindowsHandle handle(::CreateFileW(file.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                                       FILE_ATTRIBUTE_NORMAL, nullptr));
    if (handle.is_open()) return FileLock(handle.release());
    const DWORD error = ::GetLastError();
    if (error != ERROR_SHARING_VIOLATION) return status_of_windows_error("lock", file, error);
    if (Clock::now() >= limit) {
      return core::Status(core::StatusCode::kBusy, fmt::format("{} is held by another process", quoted(file)));
    }
    std::this_thread::sleep_for(kPause);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::exchange(other.handle_, nullptr);
  }
  return *this;
}

FileLock::~FileLock() {
  release();
}

void FileLock::release() noexcept {
  if (handle_ != nullptr) ::CloseHandle(std::exchange(handle_, nullptr));
}

}  // namespace latebind::platform
