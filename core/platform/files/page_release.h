// FilePages and PageRelease: keep pages of mapped files that were read from counting as this process's memory.
//
// Returning such pages to the system loses nothing: a page that is read again comes from the system's cache of the
// file.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::platform {

// The pages of mapped files among some bytes. Other memory, and mappings that may be or were written to, are not
// included, because their content would be lost. Nobody may write to the bytes meanwhile. Always empty on Windows.
class FilePages {
 public:
  // The bytes must outlive this object. They may span several mappings and what is between those.
  explicit FilePages(std::span<const std::byte> bytes);

  // Returns the number of bytes in such mappings.
  [[nodiscard]] std::size_t size() const;
  // Returns whole pages to the system. May be called from any thread.
  void release() const;
  // Does the same for this part of the bytes.
  void release(std::span<const std::byte> part) const;

 private:
  std::vector<std::span<const std::byte>> parts_;
};

// Returns all file pages among the bytes to the system, and returns their size.
std::size_t release_pages(std::span<const std::byte> bytes);

// Returns the file pages among some bytes to the system every few milliseconds while it lives, and once more when it
// ends. For a vendor that reads all of a mapped model to compile or import it, and needs little of it again. One thread
// creates and destroys it.
class PageRelease {
 public:
  // The bytes must outlive this object, as for FilePages.
  explicit PageRelease(std::span<const std::byte> bytes);
  PageRelease(const PageRelease&) = delete;
  PageRelease& operator=(const PageRelease&) = delete;
  ~PageRelease();

 private:
  void run();

  FilePages pages_;
  core::Mutex mutex_;
  core::Condition changed_;
  bool stop_ LB_GUARDED_BY(mutex_) = false;
  Thread thread_;  // empty when there is nothing to do, or the system could not create a thread
};

}  // namespace latebind::platform
