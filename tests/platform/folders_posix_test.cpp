#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <string>

#include "core/platform/files/folders.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::ScopedVariable;

std::string text_of(const core::Result<std::filesystem::path>& folder) {
  return folder.ok() ? folder->string() : "error: " + folder.status().to_string();
}

TEST(FoldersTest, FollowTheXdgVariables) {
  const ScopedVariable home("HOME", "/home/somebody");
  const ScopedVariable cache("XDG_CACHE_HOME", "/big/cache");
  const ScopedVariable config("XDG_CONFIG_HOME", "/small/config");
  EXPECT_EQ(text_of(cache_folder()), "/big/cache/latebind");
  EXPECT_EQ(text_of(config_folder()), "/small/config/latebind");
  EXPECT_EQ(text_of(home_folder()), "/home/somebody");
}

TEST(FoldersTest, AreBelowHomeWithoutThem) {
  const ScopedVariable home("HOME", "/home/somebody");
  for (const auto& useless : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const ScopedVariable cache("XDG_CACHE_HOME", useless);
    const ScopedVariable config("XDG_CONFIG_HOME", useless);
    EXPECT_EQ(text_of(cache_folder()), "/home/somebody/.cache/latebind");
    EXPECT_EQ(text_of(config_folder()), "/home/somebody/.config/latebind");
  }
}

TEST(FoldersTest, IgnoreRelativeXdgVariables) {
  const ScopedVariable home("HOME", "/home/somebody");
  const ScopedVariable cache("XDG_CACHE_HOME", "relative/cache");
  const ScopedVariable config("XDG_CONFIG_HOME", ".");
  EXPECT_EQ(text_of(cache_folder()), "/home/somebody/.cache/latebind");
  EXPECT_EQ(text_of(config_folder()), "/home/somebody/.config/latebind");
}

TEST(FoldersTest, TakeTheHomeOfTheUserDatabaseWithoutAnAbsoluteOne) {
  const struct passwd* entry = ::getpwuid(::getuid());
  if (entry == nullptr) GTEST_SKIP() << "this user is not in the user database";
  for (const auto& useless : {std::optional<std::string>(), std::optional<std::string>("relative")}) {
    const ScopedVariable home("HOME", useless);
    EXPECT_EQ(text_of(home_folder()), entry->pw_dir);
  }
}

TEST(FoldersTest, SayWhatToSetWhenThereIsNoHome) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can become a user who is not in the user database";
  const ScopedVariable home("HOME", std::nullopt);
  const ScopedVariable cache("XDG_CACHE_HOME", std::nullopt);
  const ScopedVariable config("XDG_CONFIG_HOME", "/small/config");
  const std::string answer = testing::in_child([] {
    if (::setuid(54321) != 0) return std::string("failed");
    const auto folder = cache_folder();
    if (folder.status().code() != StatusCode::kNotFound) return "not refused: " + text_of(folder);
    return text_of(folder) + "\n" + text_of(config_folder());
  });
  EXPECT_NE(answer.find("54321"), std::string::npos) << answer;
  EXPECT_NE(answer.find("set HOME, or set XDG_CACHE_HOME"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\n/small/config/latebind"), std::string::npos) << answer;
}

TEST(FoldersTest, MakeNothing) {
  const testing::ScratchFolder folder;
  const ScopedVariable home("HOME", folder.path().string());
  const ScopedVariable cache("XDG_CACHE_HOME", std::nullopt);
  const ScopedVariable config("XDG_CONFIG_HOME", std::nullopt);
  EXPECT_TRUE(cache_folder().ok());
  EXPECT_TRUE(config_folder().ok());
  EXPECT_TRUE(folder.names().empty());
}

TEST(FoldersTest, HaveOneForTheWholeSystem) {
  EXPECT_EQ(system_config_folder(), "/etc/latebind");
}

TEST(FoldersTest, TurnPathsIntoTextAndBack) {
  for (const std::string text : {"", "plain", "/a b/ü/日本語/🙂", "not utf-8: \xff\xfe"}) {
    EXPECT_EQ(path_to_utf8(path_from_utf8(text)), text);
  }
}

}  // namespace
}  // namespace latebind::platform
