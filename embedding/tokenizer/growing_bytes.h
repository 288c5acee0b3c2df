// GrowingBytes: a text that grows at its end, by a few bytes at a time. The caller writes appended bytes directly, and
// memory is not cleared first.
//
// A plain container with one owner. One thread, or any number while no bytes are appended.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/platform/huge_pages.h"

namespace latebind::embedding {

class GrowingBytes {
 public:
  [[nodiscard]] const char* data() const { return reinterpret_cast<const char*>(bytes_.get()); }
  [[nodiscard]] std::size_t size() const { return size_; }

  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto larger = platform::large_memory(capacity, 1);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }
  // Appends this many bytes, which the caller writes.
  [[nodiscard]] char* append(std::size_t bytes) {
    if (bytes > capacity_ - size_) reserve(std::max(size_ + bytes, capacity_ * 2));
    char* const begin = reinterpret_cast<char*>(bytes_.get()) + size_;
    size_ += bytes;
    return begin;
  }

 private:
  platform::LargeMemory bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace latebind::embedding
