// Payload: the bytes of one delegate call in a program, used in place.
//
// Latebind refers to the bytes as long as it may compile them again or as its vendor reads them. That can outlast the
// method, for example while a driver hangs. Therefore the payload owns ExecuTorch's buffer, and frees it after the last
// reference. If the host owns a program's bytes (BufferDataLoader, and data within the flatbuffer), the buffer owns
// nothing; wait_until_released() serves that case.
//
// Any thread.
#pragma once

#include <executorch/runtime/core/freeable_buffer.h>

#include <chrono>
#include <memory>
#include <span>

#include "core/threads/mutex.h"

namespace latebind::delegate {

class Payload {
 public:
  // Takes over the buffer's content and leaves it empty. Null if the content is not in this process's memory.
  static std::shared_ptr<Payload> take(::executorch::runtime::FreeableBuffer& processed);

  explicit Payload(::executorch::runtime::FreeableBuffer&& buffer);
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  // Context and function for lb_model_memory. The context keeps the payload alive until it is released.
  static void* context_for(const std::shared_ptr<Payload>& payload);
  static void release(void* context);

  // Returns false if the time passed first.
  [[nodiscard]] bool wait_until_released(std::chrono::milliseconds most);

 private:
  ::executorch::runtime::FreeableBuffer buffer_;
  const std::span<const std::byte> bytes_;
  core::Mutex mutex_;
  core::Condition changed_;
  bool released_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::delegate
