// Huge pages: memory that the system maps in large pieces, which makes the first access and later address translation
// faster. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace latebind::platform {

// The size of a huge page, in bytes. Memory of at least this size should begin at a multiple of it.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Asks the system to use huge pages for memory that was not accessed yet. The system may ignore the request.
void prefer_huge_pages(std::span<std::byte> memory) noexcept;

struct FreeAligned {
  std::align_val_t alignment{alignof(std::max_align_t)};
  void operator()(std::byte* memory) const noexcept { ::operator delete(memory, alignment); }
};
using LargeMemory = std::unique_ptr<std::byte, FreeAligned>;

// Returns the alignment of memory of this size: that of a huge page if it is at least as large as one.
[[nodiscard]] inline std::align_val_t large_alignment(std::size_t bytes, std::size_t alignment) {
  return std::align_val_t{bytes < kHugePage ? alignment : kHugePage};
}

// Allocates `bytes` bytes, which are not initialised. They begin at a multiple of `alignment`, or of kHugePage if there
// are at least that many, and are then in huge pages if the system has them. Throws std::bad_alloc.
[[nodiscard]] inline LargeMemory large_memory(std::size_t bytes, std::size_t alignment) {
  const FreeAligned free{large_alignment(bytes, alignment)};
  LargeMemory memory(static_cast<std::byte*>(::operator new(bytes, free.alignment)), free);
  prefer_huge_pages({memory.get(), bytes});
  return memory;
}

// An allocator for containers that become large; it allocates with large_memory(). Stateless.
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
