#include "hosts/executorch/payload.h"

#include <utility>

namespace latebind::delegate {

std::shared_ptr<Payload> Payload::take(::executorch::runtime::FreeableBuffer& processed) {
  if (!processed.data_safe().ok()) return nullptr;
  return std::make_shared<Payload>(std::move(processed));
}

Payload::Payload(::executorch::runtime::FreeableBuffer&& buffer)
    : buffer_(std::move(buffer)), bytes_(static_cast<const std::byte*>(buffer_.data()), buffer_.size()) {}

void* Payload::context_for(const std::shared_ptr<Payload>& payload) {
  return new std::shared_ptr<Payload>(payload);
}

void Payload::release(void* context) {
  const std::unique_ptr<std::shared_ptr<Payload>> owned(static_cast<std::shared_ptr<Payload>*>(context));
  Payload& payload = **owned;
  const core::MutexLock lock(payload.mutex_);
  payload.buffer_.Free();
  payload.released_ = true;
  payload.changed_.notify_all();
}

bool Payload::wait_until_released(std::chrono::milliseconds most) {
  const core::MutexLock lock(mutex_);
  return changed_.wait_for(mutex_, most, [this]() LB_REQUIRES(mutex_) { return released_; });
}

}  // namespace latebind::delegate
