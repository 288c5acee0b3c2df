#include "core/threads/cancellation.h"

#include <utility>

namespace latebind::core {

Cancellation Cancellation::create() {
  Cancellation made;
  made.state_ = std::make_shared<State>();
  return made;
}

Cancellation Cancellation::polled(bool (*asked)(const void* context), const void* context) {
  Cancellation made = create();
  made.state_->asked = asked;
  made.state_->context = context;
  return made;
}

void Cancellation::request() const {
  if (state_ == nullptr) return;
  // The actions are called with the lock held, so that the destructor of a Watch waits for its action.
  const MutexLock lock(state_->mutex);
  if (state_->requested.exchange(true, std::memory_order_acq_rel)) return;
  for (Watch* watch = state_->first; watch != nullptr; watch = watch->after_)
    watch->action_();
}

Cancellation::Watch::Watch(const Cancellation& cancellation, std::function<void()> action)
    : state_(cancellation.state_), action_(std::move(action)) {
  if (state_ == nullptr) return;
  const MutexLock lock(state_->mutex);
  after_ = std::exchange(state_->first, this);
  if (after_ != nullptr) after_->before_ = this;
  if (state_->requested.load(std::memory_order_relaxed)) action_();
}

Cancellation::Watch::~Watch() {
  if (state_ == nullptr) return;
  const MutexLock lock(state_->mutex);
  (before_ != nullptr ? before_->after_ : state_->first) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

}  // namespace latebind::core
