#include "core/platform/files/page_release.h"

#include <chrono>
#include <exception>

#include "core/platform/files/page_release_os.h"

namespace latebind::platform {
namespace {

// What is read within one is what counts at most: some ten MiB.
constexpr std::chrono::milliseconds kPeriod{4};

// Less is not worth a thread.
constexpr std::size_t kLeast = std::size_t{8} << 20;

}  // namespace

std::size_t release_pages(std::span<const std::byte> bytes) {
  std::size_t released = 0;
  for (const auto part : unwritten_file_parts(bytes)) {
    drop_pages(part);
    released += part.size();
  }
  return released;
}

PageRelease::PageRelease(std::span<const std::byte> bytes) {
  if (bytes.size() < kLeast) return;
  parts_ = unwritten_file_parts(bytes);
  if (parts_.empty()) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    // Then only at the end.
  }
}

PageRelease::~PageRelease() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  drop();
}

void PageRelease::run() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kPeriod, [this] { return stop_; }))
    drop();
}

void PageRelease::drop() const {
  for (const auto part : parts_)
    drop_pages(part);
}

}  // namespace latebind::platform
