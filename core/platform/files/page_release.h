// FilePages, PageRelease: keep what was read of a mapped file from counting as this process's memory.
//
// Nothing is lost when its pages are returned to the system: one that is read again comes from the system's cache of
// the file.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "core/platform/thread.h"

namespace latebind::platform {

// The pages of mapped files among some bytes. Memory, and a mapping that may be or was written to, is left alone: its
// bytes would be lost. Nobody may write to the bytes meanwhile. There are none on Windows.
class FilePages {
 public:
  // The bytes must outlive this; they may span several mappings, and what is between these.
  explicit FilePages(std::span<const std::byte> bytes);

  // Of the bytes that lie in such mappings.
  [[nodiscard]] std::size_t size() const;
  // Returns whole pages to the system. Any thread.
  void release() const;
  // The same, of this part of the bytes.
  void release(std::span<const std::byte> part) const;

 private:
  std::vector<std::span<const std::byte>> parts_;
};

// Returns all of them to the system, and returns their size.
std::size_t release_pages(std::span<const std::byte> bytes);

// Returns them every few milliseconds while it lives, and the rest when it ends. For a vendor that reads all of a
// mapped model to compile or import it, and needs little of it again.
class PageRelease {
 public:
  // As of FilePages.
  explicit PageRelease(std::span<const std::byte> bytes);
  PageRelease(const PageRelease&) = delete;
  PageRelease& operator=(const PageRelease&) = delete;
  ~PageRelease();

 private:
  void run();

  FilePages pages_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  Thread thread_;      // none where there is nothing to do, or the system could not create one
};

}  // namespace latebind::platform
