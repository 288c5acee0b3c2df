// BackgroundLines writes to the error stream without blocking its callers. A reader that has stopped reading blocks
// only a thread of this class. While kWaitingMax lines wait, further ones are dropped.
//
// Thread-safe. While an object lives, the program's messages (messages.h) go through it.
#pragma once

#include <cstddef>
#include <string>

#include "core/threads/bounded_worker.h"

namespace latebind::cli {

class BackgroundLines {
 public:
  static constexpr std::size_t kWaitingMax = 1024;

  BackgroundLines();
  // Waits until the waiting lines are written, but at most a second.
  ~BackgroundLines();
  BackgroundLines(const BackgroundLines&) = delete;
  BackgroundLines& operator=(const BackgroundLines&) = delete;

  // `line` includes its end.
  void write(std::string line) noexcept;

 private:
  core::BoundedWorker<std::string> worker_;
};

}  // namespace latebind::cli
