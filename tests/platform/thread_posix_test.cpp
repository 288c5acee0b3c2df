// How much room threads have where the process was started with little.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>

#include "core/platform/thread.h"

namespace latebind::platform {
namespace {

// Of the calling thread.
std::size_t room() {
  ::pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return 0;
  std::size_t size = 0;
  ::pthread_attr_getstacksize(&attributes, &size);
  ::pthread_attr_destroy(&attributes);
  return size;
}

void set_default(std::size_t size) {
  ::pthread_attr_t attributes;
  ASSERT_EQ(::pthread_attr_init(&attributes), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&attributes, size), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&attributes), 0);
  ::pthread_attr_destroy(&attributes);
}

TEST(ThreadRoomTest, IsThereWhateverTheDefaultIs) {
  ::pthread_attr_t before;
  ASSERT_EQ(::pthread_getattr_default_np(&before), 0);
  std::size_t found = 0;
  for (const std::size_t standard : {std::size_t{256} << 10, 2 * kThreadRoom}) {
    set_default(standard);
    Thread([&] { found = room(); }).join();
    EXPECT_GE(found, kThreadRoom);
    EXPECT_GE(found, standard);
  }
  ASSERT_EQ(::pthread_setattr_default_np(&before), 0);
  ::pthread_attr_destroy(&before);
}

// In a child, whose limit is its own affair. What it returns.
int in_a_child_with(rlim_t limit, int (*work)()) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::rlimit room{};
    ::getrlimit(RLIMIT_STACK, &room);
    room.rlim_cur = limit;
    if (::setrlimit(RLIMIT_STACK, &room) != 0) ::_exit(100);
    ::_exit(call_with_room(work));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(ThreadRoomTest, IsMadeForAProgramThatWasGivenLittle) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer starts no threads in a child of a process with threads";
#endif
  const auto has_room = [] { return room() >= kThreadRoom ? 7 : 8; };
  EXPECT_EQ(in_a_child_with(rlim_t{64} << 10, has_room), 7);
  const auto is_first_thread = [] { return ::gettid() == ::getpid() ? 7 : 8; };
  EXPECT_EQ(in_a_child_with(rlim_t{2} << 20, is_first_thread), 7);
}

std::atomic<int> g_signals{0};

TEST(ThreadRoomTest, ThatThreadGetsTheSignals) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer starts no threads in a child of a process with threads";
#endif
  const auto is_interrupted = [] {
    struct sigaction action {};
    action.sa_handler = [](int) { ++g_signals; };
    if (::sigaction(SIGUSR1, &action, nullptr) != 0) return 8;
    // To the process, which is not over before a thread has had it.
    if (::kill(::getpid(), SIGUSR1) != 0) return 9;
    return g_signals == 1 ? 7 : 10;
  };
  EXPECT_EQ(in_a_child_with(rlim_t{64} << 10, is_interrupted), 7);
}

}  // namespace
}  // namespace latebind::platform
