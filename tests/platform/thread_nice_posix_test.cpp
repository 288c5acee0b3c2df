#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "core/platform/thread_nice.h"

namespace latebind::platform {
namespace {

template <class Work>
void on_another_thread(const Work& work) {
  std::thread(work).join();
}

TEST(ThreadNiceTest, MakesWayAndSoDoThreadsThatItCreates) {
  const int before = thread_nice();
  int after = 0;
  int of_another = 0;
  on_another_thread([&] {
    make_way(before + 3);
    after = thread_nice();
    on_another_thread([&] { of_another = thread_nice(); });
  });
  EXPECT_EQ(after, before + 3);
  EXPECT_EQ(of_another, before + 3);
  EXPECT_EQ(thread_nice(), before);
}

TEST(ThreadNiceTest, WhatTheThreadHadBeforeIsNotTakenBack) {
  on_another_thread([] {
    ASSERT_EQ(::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), 7), 0);
    make_way(5);
    EXPECT_EQ(thread_nice(), 7);
    make_way(1000);
    EXPECT_EQ(thread_nice(), kNiceMost);
  });
}

}  // namespace
}  // namespace latebind::platform
