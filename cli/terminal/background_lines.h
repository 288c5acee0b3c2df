// BackgroundLines: lines for the error stream that nobody waits for. A reader that has stopped reading holds up a
// thread of its own and nothing else; lines that find kWaitingMax waiting are lost.
//
// Thread-safe. While it lives, the program's messages (messages.h) go through it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace latebind::cli {

class BackgroundLines {
 public:
  static constexpr std::size_t kWaitingMax = 1024;

  BackgroundLines();
  // Waits for what is not written yet, but a second at most.
  ~BackgroundLines();
  BackgroundLines(const BackgroundLines&) = delete;
  BackgroundLines& operator=(const BackgroundLines&) = delete;

  // With its end.
  void write(std::string line) const noexcept;

 private:
  struct State;
  // The thread's as well: it may never return from its last write.
  const std::shared_ptr<State> state_;
};

}  // namespace latebind::cli
