// FolderLock: a lock on a folder itself, for code that has no file to lock and must not create one. Linux only.
#pragma once

#include <chrono>
#include <filesystem>

namespace latebind::platform {

// Held while the object lives, by one holder at a time. If it cannot be acquired in time (the folder may not be read,
// the file system has no locks, another holder keeps it), it is not held: the lock is advisory.
class FolderLock {
 public:
  // Waits up to `timeout`. An empty path means the current folder.
  explicit FolderLock(const std::filesystem::path& folder,
                      std::chrono::milliseconds timeout = std::chrono::seconds(1)) noexcept;
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace latebind::platform
