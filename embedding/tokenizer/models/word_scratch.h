// WordScratch: memory for a word, inside the object for words of usual length, on the heap for longer ones. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace latebind::embedding {

template <class T, std::size_t kInside>
class WordScratch {
 public:
  // The memory is written before it is read; clearing it would take longer than most words.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
  explicit WordScratch(std::size_t size) {
    if (size > kInside) heap_ = std::make_unique_for_overwrite<T[]>(size);
    data_ = heap_ == nullptr ? inside_.data() : heap_.get();
  }
  WordScratch(const WordScratch&) = delete;
  WordScratch& operator=(const WordScratch&) = delete;

  void push_back(const T& value) { data_[size_++] = value; }
  void pop_back() { --size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }

 private:
  std::array<T, kInside> inside_;
  std::unique_ptr<T[]> heap_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace latebind::embedding
