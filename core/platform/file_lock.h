// FileLock: one holder at a time among all threads and processes of this machine, by a file that stays where it is.
// Freed with the object, and by the system when its process dies.
#pragma once

#include <chrono>
#include <filesystem>

#include "core/result.h"

namespace latebind::platform {

class FileLock {
 public:
  // Makes the file if there is none. kBusy when somebody else holds it for longer than `patience`; else the errors of
  // opening it for writing.
  static core::Result<FileLock> acquire(const std::filesystem::path& file, std::chrono::milliseconds patience);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(void* handle) : handle_(handle) {}
  void release() noexcept;

  void* handle_;  // a descriptor plus one on Linux, a handle on Windows; null: nothing is held
};

}  // namespace latebind::platform
