// FileLock: a lock that one process at a time holds, tied to a file, for folders that several programs fill. The file
// is empty and stays when the lock is released, unless its holder removes both. The system releases the locks of a
// process that dies.
//
// It is the kind of lock that other tools use: flock() on Linux, a lock on the first byte on Windows. An object belongs
// to one thread at a time; two objects exclude each other within a process, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/result.h"

namespace latebind::platform {

class FileLock {
 public:
  // Acquires the lock. Creates the file if it is missing; its folder must exist. Waits up to `timeout`, and calls
  // `on_wait` once if it has to wait. kBusy when another holder keeps the lock for longer, kPermissionDenied (on Linux
  // also for a link), kDiskFull or kIo.
  static core::Result<FileLock> acquire(const std::filesystem::path& file, std::chrono::milliseconds timeout,
                                        const std::function<void()>& on_wait = {});

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Releases the lock and removes its file, which must be the one that was passed to acquire(); waiters create the file
  // again. If the file cannot be removed, it stays.
  void remove(const std::filesystem::path& file) noexcept;

 private:
  explicit FileLock(std::intptr_t handle) : handle_(handle) {}
  void release() noexcept;

  std::intptr_t handle_ = -1;  // -1: not held
};

}  // namespace latebind::platform
