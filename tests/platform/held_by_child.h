// A child process that takes something, says whether it has it, and keeps it until it is killed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace latebind::platform::testing {

class HeldByChild {
 public:
  // To be called in the child with whether everything was taken; does not return.
  using Keep = std::function<void(bool taken)>;

  // Runs `take` in a child. What it has on its stack when it calls `keep` is kept.
  explicit HeldByChild(const std::function<void(const Keep& keep)>& take) {
    if (::pipe(ready_) != 0) return;
    child_ = ::fork();
    if (child_ != 0) return;
    take([this](bool taken) {
      const char answer = taken ? 'y' : 'n';
      static_cast<void>(!::write(ready_[1], &answer, 1));
      ::pause();
      ::_exit(0);
    });
    ::_exit(1);
  }
  HeldByChild(const HeldByChild&) = delete;
  HeldByChild& operator=(const HeldByChild&) = delete;
  ~HeldByChild() {
    kill();
    ::close(ready_[0]);
    ::close(ready_[1]);
  }

  // Waits for the child's answer.
  [[nodiscard]] bool is_taken() const {
    char answer = 0;
    return child_ > 0 && ::read(ready_[0], &answer, 1) == 1 && answer == 'y';
  }
  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  int ready_[2] = {-1, -1};
  pid_t child_ = -1;
};

}  // namespace latebind::platform::testing
