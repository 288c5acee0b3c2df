// Buffer: aligned, uninitialised memory for numbers, owned by the object. Not thread-safe.
#pragma once

#include <cstddef>

#include "backends/native/kernels/kernels.h"
#include "core/platform/huge_pages.h"

namespace latebind::native {

class Buffer {
 public:
  Buffer() = default;
  // Throws std::bad_alloc.
  explicit Buffer(std::size_t size) { reserve(size); }

  // Makes room for `size` numbers. The contents are lost if it has to grow. Throws std::bad_alloc, and is then empty.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    memory_.reset();
    size_ = 0;
    memory_ = platform::large_memory(size * sizeof(float), kAlignment);
    size_ = size;
  }

  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  platform::LargeMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace latebind::native
