// The log in a child after fork().
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <thread>

#include "core/log.h"

namespace latebind::core {
namespace {

TEST(LogForkTest, AChildIsSilentUntilItSetsASinkAndWaitsForNoThreadOfItsParent) {
  struct Sink {
    const pid_t parent = ::getpid();
    std::latch entered{1};
    std::atomic<bool> go = false;
    int told_in_child = 0;
    void operator()(LogLevel, std::string_view) {
      if (::getpid() != parent) {
        ++told_in_child;
        return;
      }
      entered.count_down();
      go.wait(false);
    }
  } sink;
  set_log_sink(LogSink::to(sink));
  std::thread speaker([] { log(LogLevel::kError, "line"); });
  sink.entered.wait();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    log(LogLevel::kError, "of the child");
    const int before = sink.told_in_child;
    set_log_sink(LogSink::to(sink));  // the speaker is not here
    log(LogLevel::kError, "of the child");
    set_log_sink({});
    ::_exit(before == 0 ? sink.told_in_child : 100);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 1);
  sink.go = true;
  sink.go.notify_all();
  speaker.join();
  set_log_sink({});
}

}  // namespace
}  // namespace latebind::core
