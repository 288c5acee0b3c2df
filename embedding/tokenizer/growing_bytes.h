// GrowingBytes: a text that only grows, at its end, by pieces of a few bytes: what is appended is written by whoever
// has it, once, and nothing is cleared before.
//
// A plain container, one owner. One thread, or any while nothing is appended.
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
  // So many more bytes, which the caller writes.
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
