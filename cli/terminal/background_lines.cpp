#include "cli/terminal/background_lines.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "cli/terminal/messages.h"
#include "core/platform/standard_streams.h"
#include "core/platform/thread.h"

namespace latebind::cli {

struct BackgroundLines::State {
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  std::deque<std::string> waiting;
  bool is_writing = false;
  bool is_ending = false;
  bool has_thread = false;

  void run() noexcept {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return is_ending || !waiting.empty(); });
      if (waiting.empty()) return;
      const std::string line = std::move(waiting.front());
      waiting.pop_front();
      is_writing = true;
      lock.unlock();
      platform::write_to_error_stream(line);
      lock.lock();
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
  std::unique_lock lock(state_->mutex);
  state_->is_ending = true;
  state_->changed.notify_all();
  if (!state_->has_thread) return;
  state_->changed.wait_for(lock, std::chrono::seconds(1),
                           [this] { return state_->waiting.empty() && !state_->is_writing; });
}

void BackgroundLines::write(std::string line) const noexcept {
  try {
    {
      const std::lock_guard lock(state_->mutex);
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
