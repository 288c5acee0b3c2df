#include <array>
#include <atomic>
#include <cstddef>

#include "core/platform/thread_slot.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

// The slots of this module, which the system notifies about threads.
struct Ended {
  std::atomic<void (*)(void*)> end{nullptr};
  DWORD key = 0;
};
constexpr std::size_t kSlotsMax = 8;
std::array<Ended, kSlotsMax> g_slots;
std::atomic<std::size_t> g_count{0};

void NTAPI tell_slots(PVOID, DWORD reason, PVOID) {
  if (reason != DLL_THREAD_DETACH) return;
  for (Ended& slot : g_slots) {
    const auto end = slot.end.load(std::memory_order_acquire);
    if (end == nullptr) continue;
    if (void* const value = ::TlsGetValue(slot.key)) end(value);
  }
}

}  // namespace

// Where the system looks for callbacks at the end of a thread, however the thread was created. This works for a
// library, too.
[[gnu::section(".CRT$XLC"), gnu::used]] static const PIMAGE_TLS_CALLBACK g_where_threads_end = tell_slots;

ThreadSlot::ThreadSlot(void (*end)(void*)) noexcept {
  const std::size_t index = g_count.fetch_add(1);
  if (index >= kSlotsMax) return;
  key_ = ::TlsAlloc();
  if (key_ == TLS_OUT_OF_INDEXES) return;
  has_key_ = true;
  g_slots[index].key = key_;
  g_slots[index].end.store(end, std::memory_order_release);
}

void* ThreadSlot::value() const noexcept {
  return has_key_ ? ::TlsGetValue(key_) : nullptr;
}

bool ThreadSlot::set(void* value) const noexcept {
  return has_key_ && ::TlsSetValue(key_, value) != 0;
}

}  // namespace latebind::platform
