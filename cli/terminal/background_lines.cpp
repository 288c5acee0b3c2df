#include "cli/terminal/background_lines.h"

#include <chrono>
#include <deque>
#include <exception>
#include <utility>

#include "cli/terminal/messages.h"
#include "core/platform/standard_streams.h"
#include "core/platform/thread.h"
#include "core/threads/mutex.h"

namespace latebind::cli {

struct BackgroundLines::State {
  core::Mutex mutex;
  core::Condition changed;
  std::deque<std::string> waiting LB_GUARDED_BY(mutex);
  bool is_writing LB_GUARDED_BY(mutex) = false;
  bool is_ending LB_GUARDED_BY(mutex) = false;
  bool has_thread LB_GUARDED_BY(mutex) = false;

  void run() noexcept {
    const core::MutexLock lock(mutex);
    for (;;) {
      changed.wait(mutex, [this]() LB_REQUIRES(mutex) { return is_ending || !waiting.empty(); });
      if (waiting.empty()) return;
      const std::string line = std::move(waiting.front());
      waiting.pop_front();
      is_writing = true;
      {
        const core::MutexUnlock unlocked(mutex);
        platform::write_to_error_stream(line);
      }
      is_writing = false;
      if (waiting.empty()) changed.notify_all();
    }
  }
};

BackgroundLines::BackgroundLines() : state_(std::make_shared<State>()) {
  try {
    platform::Thread([state = state_] { state->run(); }).detach();
    state_->has_thread = true;
  } catch (const std::exception&) {
    // If the system has no more threads, each line is written by its caller.
  }
  send_messages_to([this](std::string line) { write(std::move(line)); });
}

BackgroundLines::~BackgroundLines() {
  send_messages_to({});
  const core::MutexLock lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.notify_all();
  if (!state_->has_thread) return;
  state_->changed.wait_for(state_->mutex, std::chrono::seconds(1), [this]() LB_REQUIRES(state_->mutex) {
    return state_->waiting.empty() && !state_->is_writing;
  });
}

void BackgroundLines::write(std::string line) const noexcept {
  try {
    {
      const core::MutexLock lock(state_->mutex);
      if (state_->has_thread) {
        if (state_->waiting.size() < kWaitingMax) state_->waiting.push_back(std::move(line));
        state_->changed.notify_all();
        return;
      }
    }
    platform::write_to_error_stream(line);
  } catch (const std::exception&) {
    // The line is lost.
  }
}

}  // namespace latebind::cli
