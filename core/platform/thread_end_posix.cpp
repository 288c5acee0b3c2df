#include <pthread.h>

#include "core/platform/thread_end.h"

namespace latebind::platform {

ThreadEnd::ThreadEnd(void (*action)(void*)) noexcept : action_(action) {
  pthread_key_t key{};
  has_key_ = ::pthread_key_create(&key, action_) == 0;
  key_ = key;
}

bool ThreadEnd::call_with(void* given) const noexcept {
  return has_key_ && ::pthread_setspecific(key_, given) == 0;
}

}  // namespace latebind::platform
