// A lock of a place where a file or a folder is written: for who reads what is there and puts another version in its
// place, so that nothing is lost that somebody else has put there meanwhile. Held from before the old one is read until
// the new one is there.
//
// It is a file of its own beside the place, since the file in the place is another one after each rename: hidden, named
// after the place, and removed when the lock is released. What a killed process leaves locks nobody out, and goes with
// the next lock of that place, or with remove_abandoned_outputs(). One thread at a time; two objects exclude each
// other within a process, too.
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
  // Waits up to `timeout`; kBusy when another holder keeps it for longer. Links are followed: two names of one place
  // have one lock. Where no lock can be had, none is held, and that is no error: for a pipe or a device, in a folder
  // that may not be written to or is missing, on a file system without locks, and where another user's lock was left.
  // It keeps apart those who mean well, no others.
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

// Removes what killed processes have left of such locks in `folder` a minute ago or earlier. Ignores whatever cannot be
// removed.
void remove_abandoned_locks(const std::filesystem::path& folder) noexcept;

}  // namespace latebind::platform
