#include "core/platform/files/file_lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/platform/files/file_lock_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

// The lock is polled, because a wait inside the system has no time limit on some systems.
core::Result<FileLock> FileLock::acquire(const std::filesystem::path& file, std::chrono::milliseconds timeout,
                                         const std::function<void()>& on_wait) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kFirstPause{5};
  constexpr std::chrono::milliseconds kLongestPause{200};
  LB_RETURN_IF_ERROR(check_path("lock", file));
  const auto deadline = Clock::now() + timeout;
  auto pause = kFirstPause;
  for (bool first = true;; first = false) {
    LB_ASSIGN_OR_RETURN(const std::intptr_t handle, try_lock_file(file));
    if (handle >= 0) return FileLock(handle);
    if (first && on_wait) on_wait();
    const auto now = Clock::now();
    if (now >= deadline) {
      return Status(
          StatusCode::kBusy,
          fmt::format("another process has held the lock {} for {} s; wait until it ends, or end it, then try again",
                      quoted(file), timeout.count() / 1000));
    }
    std::this_thread::sleep_for(
        std::min(pause, std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now) + kFirstPause));
    pause = std::min(2 * pause, kLongestPause);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::exchange(other.handle_, -1);
  }
  return *this;
}

FileLock::~FileLock() {
  release();
}

void FileLock::remove(const std::filesystem::path& file) noexcept {
  if (handle_ >= 0) unlock_and_remove_file(std::exchange(handle_, -1), file);
}

void FileLock::release() noexcept {
  if (handle_ >= 0) unlock_file(std::exchange(handle_, -1));
}

}  // namespace latebind::platform
