// Payload: the bytes of one delegate call in a program, used where ExecuTorch put them.
//
// Latebind refers to them as long as it may compile them again, or as its vendor reads them, and that can be longer
// than the method lives: while a driver hangs, for instance. So the payload owns ExecuTorch's buffer, and frees it when
// nothing refers to it any more. A program whose bytes belong to the host (BufferDataLoader, and data within the
// flatbuffer) has buffers that own nothing: for these wait_until_released() is there.
//
// Any thread.
#pragma once

#include <executorch/runtime/core/freeable_buffer.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>

namespace latebind::delegate {

class Payload {
 public:
  // Takes the buffer's content; it is empty then. Null when it is not in this process's memory.
  static std::shared_ptr<Payload> take(::executorch::runtime::FreeableBuffer& processed);

  explicit Payload(::executorch::runtime::FreeableBuffer&& buffer);
  Payload(const Payload&) = delete;
  Payload& operator=(const Payload&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

  // The context and the function for lb_model_memory: the context keeps the payload alive until it is released.
  static void* context_for(const std::shared_ptr<Payload>& payload);
  static void release(void* context);

  // False when the time passed first.
  [[nodiscard]] bool wait_until_released(std::chrono::milliseconds most);

 private:
  ::executorch::runtime::FreeableBuffer buffer_;
  const std::span<const std::byte> bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;  // guarded by mutex_
};

}  // namespace latebind::delegate
