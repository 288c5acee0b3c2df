// The end of a process, tried on children.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "core/platform/process_end.h"
#include "core/platform/standard_streams.h"

namespace latebind::platform {
namespace {

// The exit code of a child that does this; -1 where a signal has ended it.
template <class Work>
int code_of(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // instead of hanging
    work();
    ::_exit(99);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

// What is written to the error stream waits for ever.
void block_error_stream() {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) ::_exit(98);
  ::fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK);
  const std::string some(4096, 'x');
  while (::write(STDERR_FILENO, some.data(), some.size()) > 0) {
  }
  ::fcntl(STDERR_FILENO, F_SETFL, 0);
}

TEST(ProcessEndTest, HasATimeWhateverTheProcessWaitsFor) {
  EXPECT_EQ(code_of([] {
              end_program_within(std::chrono::milliseconds(50), 7);
              for (;;)
                ::pause();
            }),
            7);
}

TEST(ProcessEndTest, IsNotPutOffByItsTime) {
  EXPECT_EQ(code_of([] {
              end_program_within(std::chrono::hours(1), 7);
              std::exit(8);
            }),
            8);
}

TEST(ProcessEndTest, DoesNotWaitForAnErrorStreamThatNobodyReads) {
  EXPECT_EQ(code_of([] {
              block_error_stream();
              std::thread([] { write_to_error_stream("one line more\n"); }).detach();
              // Once it waits in there.
              std::this_thread::sleep_for(std::chrono::milliseconds(100));
              std::exit(8);
            }),
            8);
}

}  // namespace
}  // namespace latebind::platform
