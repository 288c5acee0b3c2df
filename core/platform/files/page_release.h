// PageRelease: keeps what other code reads of a mapped file from counting as this process's memory.
//
// While it lives, pages that were read are returned to the system every few milliseconds, and the rest when it ends.
// Nothing is lost: a page that is read again comes from the system's cache of the file. For a vendor that reads all of
// a mapped model to compile or import it, and needs little of it again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace latebind::platform {

// Returns the pages of `bytes` that lie in a mapping of a file to the system, and returns the number of bytes in such
// mappings. Memory, and a mapping that may be or was written to, is left alone: its bytes would be lost. Nobody may
// write to the bytes meanwhile. Does nothing on Windows.
std::size_t release_pages(std::span<const std::byte> bytes);

class PageRelease {
 public:
  // As release_pages(), over and over. The bytes must outlive this.
  explicit PageRelease(std::span<const std::byte> bytes);
  PageRelease(const PageRelease&) = delete;
  PageRelease& operator=(const PageRelease&) = delete;
  ~PageRelease();

 private:
  void run();
  void drop() const;

  std::vector<std::span<const std::byte>> parts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;   // guarded by mutex_
  std::thread thread_;  // none where there is nothing to do, or the system could not create one
};

}  // namespace latebind::platform
