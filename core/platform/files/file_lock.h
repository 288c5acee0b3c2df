// A lock that one process at a time holds, tied to a file: for folders that several programs fill. The file itself is
// empty and stays when the lock is released, unless its holder removes both; the locks of a process that dies are
// released.
//
// The same kind of lock as other tools use: flock() on Linux, the first byte locked on Windows. One thread at a time;
// two objects exclude each other within a process, too.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/result.h"

namespace latebind::platform {

class FileLock {
 public:
  // Creates the file if it is missing; its folder must exist. Waits up to `timeout` and calls `on_wait` once if it has
  // to. kBusy when another holder keeps it for longer, kPermissionDenied (on Linux also for a link), kDiskFull or kIo.
  static core::Result<FileLock> acquire(const std::filesystem::path& file, std::chrono::milliseconds timeout,
                                        const std::function<void()>& on_wait = {});

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

  // Releases the lock and removes its file, which acquire() was given: who waits for the lock creates the file anew.
  // The file stays where it cannot be removed.
  void remove(const std::filesystem::path& file) noexcept;

 private:
  explicit FileLock(std::intptr_t handle) : handle_(handle) {}
  void release() noexcept;

  std::intptr_t handle_ = -1;  // -1: not held
};

}  // namespace latebind::platform
