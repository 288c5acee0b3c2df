#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <thread>

#include "core/platform/thread_slice.h"

namespace latebind::platform {
namespace {

// The slice that the kernel has for the calling thread, in nanoseconds; 0: it has none, or does not tell.
std::uint64_t slice_of_this_thread() {
  std::array<std::uint64_t, 7> attributes{};  // runtime is the fourth word
  if (::syscall(SYS_sched_getattr, 0, attributes.data(), 56U, 0U) != 0) return 0;
  return attributes[3];
}

TEST(ThreadSliceTest, IsShortForTheThreadThatAsksAlone) {
  const std::uint64_t before = slice_of_this_thread();
  std::uint64_t asked = 0;
  std::thread([&] {
    prefer_short_slices();
    asked = slice_of_this_thread();
  }).join();
  EXPECT_EQ(slice_of_this_thread(), before);
  // Kernels before 6.12 have slices, and none of a thread's own.
  if (before != 0) {
    EXPECT_EQ(asked, 100'000U);
  } else {
    EXPECT_EQ(asked, 0U);
  }
}

TEST(ThreadSliceTest, ANiceValueStays) {
  int nice = 0;
  std::thread([&] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 7), 0);
    prefer_short_slices();
    nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
  }).join();
  EXPECT_EQ(nice, 7);
}

TEST(ThreadSliceTest, APolicyThatIsNotTheUsualOneStays) {
  int policy = -1;
  std::thread([&] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    prefer_short_slices();
    policy = ::sched_getscheduler(0);
  }).join();
  EXPECT_EQ(policy, SCHED_BATCH);
}

}  // namespace
}  // namespace latebind::platform
