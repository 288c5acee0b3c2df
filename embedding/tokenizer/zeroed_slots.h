// ZeroedSlots: the slots of a large hash table, initially zero. The memory comes zeroed from the system, so nothing is
// written to clear it.
//
// A plain container of fixed size with one owner. One thread, or any number while nothing is written.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "core/platform/huge_pages.h"

namespace latebind::embedding {

// A Slot of zero bytes must be valid.
template <class Slot>
class ZeroedSlots {
  static_assert(std::is_trivially_copyable_v<Slot> && std::is_trivially_destructible_v<Slot>);

 public:
  ZeroedSlots() = default;
  // Throws std::bad_alloc.
  explicit ZeroedSlots(std::size_t size) : slots_(static_cast<Slot*>(std::calloc(size, sizeof(Slot)))), size_(size) {
    if (slots_ == nullptr) throw std::bad_alloc();
    platform::prefer_huge_pages(std::as_writable_bytes(std::span(slots_.get(), size)));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Slot& operator[](std::size_t i) { return slots_[i]; }
  [[nodiscard]] const Slot& operator[](std::size_t i) const { return slots_[i]; }
  [[nodiscard]] Slot* begin() { return slots_.get(); }
  [[nodiscard]] Slot* end() { return slots_.get() + size_; }

 private:
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  std::unique_ptr<Slot[], Free> slots_;
  std::size_t size_ = 0;
};

}  // namespace latebind::embedding
