#include "core/platform/files/page_release.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <numeric>

#include "core/platform/files/page_release_os.h"

namespace latebind::platform {
namespace {

// The memory that counts is at most what is read within one period, some tens of MiB. Each release makes the reader
// fault again at its current page.
constexpr std::chrono::milliseconds kPeriod{16};

// The smallest size for which a thread is worth its cost.
constexpr std::size_t kLeast = std::size_t{8} << 20;

}  // namespace

FilePages::FilePages(std::span<const std::byte> bytes) : parts_(unwritten_file_parts(bytes)) {}

std::size_t FilePages::size() const {
  return std::transform_reduce(parts_.begin(), parts_.end(), std::size_t{0}, std::plus<>(),
                               [](const auto part) { return part.size(); });
}

void FilePages::release() const {
  for (const auto part : parts_)
    drop_pages(part);
}

void FilePages::release(std::span<const std::byte> part) const {
  // Addresses are compared as integers, because the parts belong to different objects.
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t end = begin + part.size();
  for (const auto ours : parts_) {
    const auto from = reinterpret_cast<std::uintptr_t>(ours.data());
    const std::uintptr_t first = std::max(begin, from);
    const std::uintptr_t last = std::min(end, from + ours.size());
    if (first < last) drop_pages(ours.subspan(first - from, last - first));
  }
}

std::size_t release_pages(std::span<const std::byte> bytes) {
  const FilePages pages(bytes);
  pages.release();
  return pages.size();
}

PageRelease::PageRelease(std::span<const std::byte> bytes)
    : pages_(bytes.size() < kLeast ? std::span<const std::byte>() : bytes) {
  if (pages_.size() == 0) return;
  try {
    thread_ = Thread([this] { run(); });
  } catch (const std::exception&) {
    // Without a thread, the pages are released only at the end.
  }
}

PageRelease::~PageRelease() {
  if (thread_.joinable()) {
    {
      const core::MutexLock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  pages_.release();
}

void PageRelease::run() {
  const core::MutexLock lock(mutex_);
  while (!changed_.wait_for(mutex_, kPeriod, [this]() LB_REQUIRES(mutex_) { return stop_; }))
    pages_.release();
}

}  // namespace latebind::platform
