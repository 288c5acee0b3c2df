#include <thread>
#include <utility>

#include "core/platform/thread.h"

namespace latebind::platform {

// A program built with mingw-w64 has the stack size of its threads in its header, and no setting limits it.
struct Thread::System {
  std::thread thread;
};

Thread::Thread() noexcept = default;

Thread::Thread(std::function<void()> work) : system_(std::make_unique<System>(std::thread(std::move(work)))) {}

Thread::Thread(Thread&& other) noexcept = default;

Thread& Thread::operator=(Thread&& other) noexcept = default;

Thread::~Thread() = default;

void Thread::join() {
  system_->thread.join();
  system_.reset();
}

void Thread::detach() {
  system_->thread.detach();
  system_.reset();
}

bool Thread::is_this() const noexcept {
  return joinable() && system_->thread.get_id() == std::this_thread::get_id();
}

int call_with_room(const std::function<int()>& work) {
  return work();
}

}  // namespace latebind::platform
