#include "tests/support/failing_new.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>

namespace {

std::atomic<bool> g_armed{false};
std::atomic<std::uint64_t> g_first{0};
std::atomic<std::uint64_t> g_left{0};
std::atomic<bool> g_from_then_on{false};
std::atomic<bool> g_refused{false};
std::atomic<bool> g_provider_alone{false};
thread_local int t_spared = 0;

// Whose memory it is: the innermost caller's of these libraries; "" where it is none of them.
constexpr std::array<std::string_view, 3> kLibraries{"libopenvino_c.so", "libonnxruntime.so",
                                                     "libonnxruntime_providers_latebind.so"};
std::string_view caller() {
  std::array<void*, 64> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  for (const void* frame : std::span(frames).first(static_cast<std::size_t>(count))) {
    Dl_info info{};
    if (::dladdr(frame, &info) == 0 || info.dli_fname == nullptr) continue;
    const std::string_view file = info.dli_fname;
    const auto* found = std::ranges::find_if(
        kLibraries, [&](std::string_view library) { return file.find(library) != std::string_view::npos; });
    if (found != kLibraries.end()) return *found;
  }
  return {};
}

// The first two are others', and what they would make of a refusal shows nothing of ours.
bool is_ours() {
  const std::string_view found = caller();
  return g_provider_alone ? found == kLibraries[2] : found.empty() || found == kLibraries[2];
}

bool is_refused() {
  if (!g_armed.load(std::memory_order_relaxed) || t_spared > 0) return false;
  // What was let through for a fake leaves the next one to be refused.
  if (g_left.load() > 1) {
    if (g_left.fetch_sub(1) > 1) return false;
    g_left = 1;
  }
  if (g_refused && !g_from_then_on) return false;
  if (!is_ours()) return false;
  return !g_refused.exchange(true) || g_from_then_on;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (is_refused()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size > 0 ? size : 1);
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, size > 0 ? size : 1) == 0 ? memory : nullptr;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment = 0) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

}  // namespace

namespace latebind::test {

void refuse_allocation(std::uint64_t n, Refusal refusal, Refused whose) {
  std::array<void*, 1> first{};
  (void)::backtrace(first.data(), 1);  // loads what it needs
  g_first = n;
  g_left = n;
  g_refused = false;
  g_from_then_on = refusal == Refusal::kFromThenOn;
  g_provider_alone = whose == Refused::kProviders;
  g_armed = true;
}

std::uint64_t allocations_counted() {
  return g_first - g_left;
}

Spared::Spared() {
  ++t_spared;
}
Spared::~Spared() {
  --t_spared;
}
Spared::Pause::Pause() {
  --t_spared;
}
Spared::Pause::~Pause() {
  ++t_spared;
}

bool stop_refusing() {
  g_armed = false;
  return g_refused;
}

}  // namespace latebind::test

// All of them: those of a sanitizer do not go together with ours.
// NOLINTBEGIN(misc-new-delete-overloads)
void* operator new(std::size_t size) {
  return allocate_or_throw(size);
}
void* operator new[](std::size_t size) {
  return allocate_or_throw(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
  std::free(memory);
}
// NOLINTEND(misc-new-delete-overloads)
