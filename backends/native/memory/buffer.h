// Buffer: aligned memory for numbers, which is not initialised.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "backends/native/kernels/kernels.h"

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
    data_.reset(static_cast<float*>(::operator new (size * sizeof(float), std::align_val_t{kAlignment})));
    size_ = size;
  }

  [[nodiscard]] float* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* data) const { ::operator delete (data, std::align_val_t{kAlignment}); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace latebind::native
