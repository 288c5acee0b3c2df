#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

#include "core/platform/file_lock.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

core::Result<FileLock> FileLock::acquire(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{5};
  LB_RETURN_IF_ERROR(check_path("lock", file));
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (descriptor < 0) return status_of_errno("lock", file, errno);
  FileLock lock(reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor) + 1));
  const auto limit = Clock::now() + patience;
  // Asked again and again, since a call that waits can not be given a time limit.
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK && error != EINTR) return status_of_errno("lock", file, error);
    if (Clock::now() >= limit) {
      return core::Status(core::StatusCode::kBusy, fmt::format("{} is held by another process", quoted(file)));
    }
    std::this_thread::sleep_for(kPause);
  }
  return lock;
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
  if (handle_ != nullptr)
    ::close(static_cast<int>(reinterpret_cast<std::intptr_t>(std::exchange(handle_, nullptr)) - 1));
}

}  // namespace latebind::platform
