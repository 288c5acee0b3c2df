// A lock of a folder itself, for what has no file of its own to lock and must not leave one behind. Linux.
#pragma once

#include <chrono>
#include <filesystem>

namespace latebind::platform {

// Held while the object lives, by one at a time. A lock that cannot be had in time (a folder that may not be read, a
// file system without locks, somebody who keeps it) is not held: it keeps apart those who mean well, no others.
class FolderLock {
 public:
  // Waits up to `timeout`. Empty: the current folder.
  explicit FolderLock(const std::filesystem::path& folder,
                      std::chrono::milliseconds timeout = std::chrono::seconds(1)) noexcept;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace latebind::platform
