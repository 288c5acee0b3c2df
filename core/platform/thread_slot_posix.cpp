#include <pthread.h>

#include "core/platform/thread_slot.h"

namespace latebind::platform {

ThreadSlot::ThreadSlot(void (*end)(void*)) noexcept {
  pthread_key_t key{};
  has_key_ = ::pthread_key_create(&key, end) == 0;
  key_ = key;
}

void* ThreadSlot::value() const noexcept {
  return has_key_ ? ::pthread_getspecific(key_) : nullptr;
}

bool ThreadSlot::set(void* value) const noexcept {
  return has_key_ && ::pthread_setspecific(key_, value) == 0;
}

}  // namespace latebind::platform
