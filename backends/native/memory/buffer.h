// Buffer: aligned memory for numbers, which is not initialised.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "backends/native/kernels/kernels.h"
#include "core/platform/huge_pages.h"

namespace latebind::native {

class Buffer {
 public:
  Buffer() = default;
  // Throws std::bad_alloc.
  explicit Buffer(std::size_t size) { reserve(size); }

  // Room for so many numbers. What was in it is lost when it has to grow. Throws std::bad_alloc, and is empty then.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    data_.reset();
    size_ = 0;
    const std::size_t bytes = size * sizeof(float);
    const std::align_val_t alignment{bytes < platform::kHugePage ? kAlignment : platform::kHugePage};
    void* const memory = ::operator new(bytes, alignment);
    data_ = std::unique_ptr<float, Free>(static_cast<float*>(memory), Free{alignment});
    size_ = size;
    platform::prefer_huge_pages({static_cast<std::byte*>(memory), bytes});
  }

  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    std::align_val_t alignment;

    void operator()(float* data) const { ::operator delete(data, alignment); }
  };
  std::unique_ptr<float, Free> data_{nullptr, Free{std::align_val_t{kAlignment}}};
  std::size_t size_ = 0;
};

}  // namespace latebind::native
