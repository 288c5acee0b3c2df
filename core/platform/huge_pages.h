// Huge pages: memory of which the system maps a large piece at once, which takes less time to touch first and to find
// later.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace latebind::platform {

// Of such a page, in bytes. Memory that is at least as large should begin at a multiple of it.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Asks for huge pages where the system has them, for memory that was not touched yet. It may not follow. Any thread.
void prefer_huge_pages(std::span<std::byte> memory) noexcept;

struct FreeAligned {
  std::align_val_t alignment{alignof(std::max_align_t)};
  void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
};
using LargeMemory = std::unique_ptr<std::byte, FreeAligned>;

// Where memory of so many bytes begins: at a multiple of this.
[[nodiscard]] inline std::align_val_t large_alignment(std::size_t bytes, std::size_t alignment) {
  return std::align_val_t{bytes < kHugePage ? alignment : kHugePage};
}

// So many bytes, which are not initialised and begin at a multiple of `alignment`; at one of a huge page, and in such
// where the system has them, when they are at least as many. Throws std::bad_alloc. Any thread.
[[nodiscard]] inline LargeMemory large_memory(std::size_t bytes, std::size_t alignment) {
  const FreeAligned free{large_alignment(bytes, alignment)};
  LargeMemory memory(static_cast<std::byte*>(::operator new(bytes, free.alignment)), free);
  prefer_huge_pages({memory.get(), bytes});
  return memory;
}

// For containers that become large: their memory is as large_memory() gives it. Stateless.
template <class T>
struct LargeAllocator {
  using value_type = T;
  LargeAllocator() = default;
  template <class Other>
  // NOLINTNEXTLINE(google-explicit-constructor): as containers convert them
  LargeAllocator(const LargeAllocator<Other>& /*other*/) noexcept {}

  // Throws std::bad_alloc.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    return reinterpret_cast<T*>(large_memory(count * sizeof(T), alignof(T)).release());
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, large_alignment(count * sizeof(T), alignof(T)));
  }
  friend bool operator==(const LargeAllocator& /*a*/, const LargeAllocator& /*b*/) { return true; }
};
template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace latebind::platform
