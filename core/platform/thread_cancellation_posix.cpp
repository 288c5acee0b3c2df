#include <pthread.h>

#include "core/platform/thread_cancellation.h"

namespace latebind::platform {

NoThreadCancellation::NoThreadCancellation() noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
}

NoThreadCancellation::~NoThreadCancellation() {
  ::pthread_setcancelstate(before_, nullptr);
}

}  // namespace latebind::platform
