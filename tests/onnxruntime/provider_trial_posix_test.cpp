// What of a trial is remembered, with programs that end as they are told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction() is POSIX, not C
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "backends/onnxruntime/provider_trial.h"
#include "core/platform/files/temporary_folder.h"

namespace latebind::onnxruntime {
namespace {

using core::Status;
using core::StatusCode;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kGoodAnswer = "echo 'latebind-child-says: {\"code\":0}'";

class ProviderMemoryTest : public testing::Test {
 protected:
  ProviderMemoryTest() {
    std::ofstream(runtime_) << "a runtime";
    std::ofstream(provider_) << "a provider";
  }

  Status try_with(const std::string& script, std::chrono::milliseconds time = std::chrono::minutes(5)) {
    const auto program = folder_.path() / "worker";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    TrialOptions options;
    options.program = program.string();
    options.folder = memory_;
    options.time = time;
    return try_provider(options, runtime_.string(), "1.0", provider_.string());
  }
  [[nodiscard]] std::string remembered() const {
    std::ifstream file(memory_ / "providers.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const platform::TemporaryFolder folder_ = *platform::TemporaryFolder::create("trial-test");
  const std::filesystem::path runtime_ = folder_.path() / "runtime.so";
  const std::filesystem::path provider_ = folder_.path() / "provider.so";
  std::filesystem::path memory_ = folder_.path();
};

TEST_F(ProviderMemoryTest, ACrashIsRememberedForThisVersion) {
  EXPECT_THAT(try_with("kill -SEGV $$").to_string(), HasSubstr("crashed with signal 11"));
  EXPECT_THAT(try_with(kGoodAnswer).to_string(), HasSubstr("crashed with signal 11"));
  std::ofstream(provider_) << "another version of the provider";
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
}

TEST_F(ProviderMemoryTest, ATimeLimitIsNotRemembered) {
  const auto status = try_with("sleep 600", std::chrono::milliseconds(200));
  EXPECT_EQ(status.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(status.to_string(), HasSubstr("did not end in time"));
  EXPECT_EQ(remembered(), "");
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
}

TEST_F(ProviderMemoryTest, ASignalFromOutsideIsNotRemembered) {
  for (const char* signal : {"KILL", "TERM", "HUP", "XCPU"}) {
    EXPECT_THAT(try_with(std::string("kill -") + signal + " $$").to_string(), HasSubstr("was ended by signal"));
  }
  EXPECT_EQ(remembered(), "");
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
}

TEST_F(ProviderMemoryTest, AnAnswerCountsWhenItsEndIsNotKnown) {
  struct sigaction ignored {};
  struct sigaction before {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGCHLD, &ignored, &before);
  const auto silent = try_with("echo nothing");
  const auto answered = try_with(kGoodAnswer);
  ::sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(silent.code(), StatusCode::kDeviceFailed);
  EXPECT_THAT(silent.to_string(), HasSubstr("SIGCHLD"));
  EXPECT_TRUE(answered.ok()) << answered.to_string();
  EXPECT_THAT(remembered(), HasSubstr("provider.so"));
}

TEST_F(ProviderMemoryTest, WhatWasRememberedBeforeTheFormatHadANumberIsNotBelieved) {
  ASSERT_TRUE(try_with(kGoodAnswer).ok());
  std::string memory = remembered();
  const auto key = memory.find_first_of("0123456789abcdef", memory.find("\"trials\": {") + 12);
  const auto name = memory.substr(key, 64);
  std::ofstream(folder_.path() / "providers.json")
      << "{\"" << name << R"(": {"provider": "x", "reason": "did not end in time"}})";
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
  EXPECT_THAT(remembered(), Not(HasSubstr("did not end in time")));
}

TEST_F(ProviderMemoryTest, WhatIsMadeForItIsForThisUserAlone) {
  memory_ = folder_.path() / "a/b";
  const mode_t before = ::umask(0);
  const Status status = try_with(kGoodAnswer);
  ::umask(before);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_NE(remembered(), "");
  for (const auto& made : {folder_.path() / "a", memory_}) {
    struct stat info {};
    ASSERT_EQ(::stat(made.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U) << made;
  }
}

TEST_F(ProviderMemoryTest, WhatOthersMayWriteToIsNeitherBelievedNorWritten) {
  EXPECT_THAT(try_with("kill -SEGV $$").to_string(), HasSubstr("crashed with signal 11"));
  const std::string crash = remembered();
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0777), 0);
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
  EXPECT_EQ(remembered(), crash);
  memory_ = folder_.path() / "below";
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
  EXPECT_FALSE(std::filesystem::exists(memory_));
}

TEST_F(ProviderMemoryTest, AnotherUsersLinkIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  constexpr uid_t kStranger = 54321;
  const auto precious = folder_.path() / "precious";
  std::ofstream(precious) << "ours";
  memory_ = folder_.path() / "theirs";
  std::filesystem::create_directory(memory_);
  std::filesystem::create_symlink(precious, memory_ / "providers.json");
  ASSERT_EQ(::lchown((memory_ / "providers.json").c_str(), kStranger, kStranger), 0);
  ASSERT_EQ(::chown(memory_.c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(try_with(kGoodAnswer).ok());
  EXPECT_EQ(remembered(), "ours");
}

}  // namespace
}  // namespace latebind::onnxruntime
