#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/platform/files/temporary_folder.h"
#include "core/vendor/child_trial.h"

namespace latebind::core {
namespace {

using testing::HasSubstr;

TEST(ChildTrialTest, AProgramThatOthersMayHavePutThereIsNotStarted) {
  const auto folder = platform::TemporaryFolder::create("trial-test");
  ASSERT_TRUE(folder.ok());
  const auto libraries = folder->path() / "lib";
  const auto program = folder->path() / "bin/latebind";
  EXPECT_EQ(trial_program_near(libraries, "latebind").status().code(), StatusCode::kNotFound);
  std::filesystem::create_directories(program.parent_path());
  std::ofstream(program) << "#!/bin/sh\n";
  const auto found = trial_program_near(libraries, "latebind");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_TRUE(std::filesystem::equivalent(*found, program));
  std::filesystem::permissions(program.parent_path(), std::filesystem::perms::all);
  const auto status = trial_program_near(libraries, "latebind").status();
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(status.message()), HasSubstr("LATEBIND_TRIAL_PROGRAM"));
}

}  // namespace
}  // namespace latebind::core
