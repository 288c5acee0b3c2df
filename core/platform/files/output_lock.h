// OutputLock: a lock on a place where a file or a folder is written. It is for code that reads what is there and
// replaces it by another version, so that no version that another process has put there meanwhile is lost. Hold it from
// before the old version is read until the new one is there.
//
// The lock is a separate file beside the place, because each rename puts another file there. The lock file is hidden,
// named after the place, and removed when the lock is released. The file of a killed process locks nobody out; the next
// lock of that place, or remove_abandoned_outputs(), removes it. One thread at a time; two objects exclude each other
// within a process, too.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "core/platform/files/file_lock.h"
#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::platform {

class OutputLock {
 public:
  // Acquires the lock. Waits up to `timeout`; kBusy when another holder keeps it for longer. Links are followed: two
  // names of one place have one lock. If the place cannot be locked, this succeeds without holding a lock: for a pipe
  // or a device, in a folder that is missing or may not be written to, on a file system without locks, and if another
  // user's lock file is there. The lock is advisory.
  static core::Result<OutputLock> acquire(const std::filesystem::path& place, std::chrono::milliseconds timeout);

  OutputLock(OutputLock&& other) noexcept;
  OutputLock& operator=(OutputLock&& other) = delete;
  ~OutputLock();

  [[nodiscard]] bool is_held() const { return lock_.has_value(); }

 private:
  OutputLock() = default;

  std::filesystem::path file_;
  std::optional<FileLock> lock_;
  MadeIn made_;  // a child made by fork() leaves the file to its parent
};

// Removes the lock files that killed processes have left in `folder` and that are at least a minute old. Ignores files
// that cannot be removed.
void remove_abandoned_locks(const std::filesystem::path& folder) noexcept;

}  // namespace latebind::platform
