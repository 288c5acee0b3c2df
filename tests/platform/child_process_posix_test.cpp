#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/platform/child_process.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using End = ChildOutcome::End;
using std::chrono::milliseconds;

core::Result<ChildOutcome> shell(const std::string& script, const ChildLimits& limits = {}) {
  return run_child("/bin/sh", {"-c", script}, limits);
}

TEST(ChildProcessTest, GivesBothStreamsAndTheStatus) {
  const auto outcome = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(outcome.ok()) << outcome.status().to_string();
  EXPECT_EQ(outcome->end, End::kExited);
  EXPECT_EQ(outcome->number, 3);
  EXPECT_FALSE(outcome->good());
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
  EXPECT_EQ(describe(*outcome), "ended with exit status 3");
}

TEST(ChildProcessTest, ArgumentsAreNoShellsBusiness) {
  const std::string strange = "a b\"c'$HOME;\\ \n*";
  const auto outcome = run_child("/bin/sh", {"-c", "printf %s \"$1\"", "sh", strange});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->output, strange);
}

TEST(ChildProcessTest, ACrashIsASignal) {
  const auto outcome = shell("kill -SEGV $$");
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kSignal);
  EXPECT_EQ(outcome->number, 11);
  EXPECT_EQ(describe(*outcome), "crashed with signal 11");
}

TEST(ChildProcessTest, OneThatHangsIsEndedWithWhatItHasSaid) {
  const auto outcome = shell("echo started; sleep 600", {.time = milliseconds(300)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
  EXPECT_EQ(outcome->output, "started\n");
  EXPECT_EQ(describe(*outcome), "did not end in time");
}

TEST(ChildProcessTest, OneThatClosesItsStreamsAndHangsIsEnded) {
  const auto outcome = shell("exec >&- 2>&-; sleep 600", {.time = milliseconds(300)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->end, End::kTimedOut);
}

TEST(ChildProcessTest, DoesNotWaitForWhatTheChildHasStarted) {
  const auto outcome = shell("sleep 600 & echo done", {.time = std::chrono::minutes(5)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(outcome->output, "done\n");
}

TEST(ChildProcessTest, OutputIsBounded) {
  const auto outcome = shell("head -c 300000 /dev/zero; echo end >&2", {.output_bytes = 1000});
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->good());
  EXPECT_EQ(outcome->output.size(), 1000U);
  EXPECT_EQ(outcome->errors, "end\n");
}

TEST(ChildProcessTest, ReadsNothingAndInheritsNoOpenFile) {
  const auto outcome = shell("cat; ls /proc/self/fd | wc -l");
  ASSERT_TRUE(outcome.ok());
  // Three streams, and the folder that ls reads.
  EXPECT_EQ(outcome->output, "4\n");
}

TEST(ChildProcessTest, WhatCanNotBeStartedIsNamed) {
  const auto missing = run_child("/nonexistent/program", {});
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().to_string(), ::testing::HasSubstr("/nonexistent/program"));
  const testing::TemporaryFolder folder;
  testing::write_file(folder / "plain", "no program");
  EXPECT_EQ(run_child(folder / "plain", {}).status().code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(run_child("", {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(ChildProcessTest, KnowsThisProgramsFile) {
  const auto own = own_program_file();
  ASSERT_TRUE(own.ok());
  EXPECT_THAT(own->filename().string(), ::testing::StartsWith("lb_platform_tests"));
}

}  // namespace
}  // namespace latebind::platform
