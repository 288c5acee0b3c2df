// PartialFile: what was written stays until it is whole.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/platform/files/partial_file.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::read_file;
using testing::ScratchFolder;
using testing::write_file;

TEST(PartialFileTest, GoesOnWhereItWasLeft) {
  const ScratchFolder folder;
  for (const char* part : {"one ", "two ", "three"}) {
    auto file = PartialFile::open(folder / "part");
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    EXPECT_TRUE(file->write(part).ok());
  }
  auto file = PartialFile::open(folder / "part");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->size(), 13U);
  write_file(folder / "whole", "old");
  ASSERT_TRUE(file->finish(folder / "whole").ok());
  EXPECT_EQ(read_file(folder / "whole"), "one two three");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"whole"});
  EXPECT_EQ(file->finish(folder / "whole").code(), StatusCode::kInternal);
}

TEST(PartialFileTest, ForgetsWhatItHolds) {
  const ScratchFolder folder;
  write_file(folder / "part", "wrong");
  auto file = PartialFile::open(folder / "part");
  ASSERT_TRUE(file.ok() && file->size() == 5);
  ASSERT_TRUE(file->clear().ok());
  EXPECT_EQ(file->size(), 0U);
  ASSERT_TRUE(file->write("ok").ok());
  EXPECT_EQ(read_file(folder / "part"), "ok");
}

TEST(PartialFileTest, GoesBackToWhatIsKnownToBeGood) {
  const ScratchFolder folder;
  auto file = PartialFile::open(folder / "part");
  ASSERT_TRUE(file.ok() && file->write("0123456789").ok());
  ASSERT_TRUE(file->cut(4).ok());
  EXPECT_EQ(file->size(), 4U);
  ASSERT_TRUE(file->write("ab").ok());
  ASSERT_TRUE(file->write_at(1, "xy").ok());
  ASSERT_TRUE(file->write("cd").ok());
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(read_file(folder / "part"), "0xy3abcd");
  EXPECT_EQ(file->cut(9).code(), StatusCode::kInternal);
  EXPECT_EQ(file->write_at(7, "xy").code(), StatusCode::kInternal);
}

TEST(PartialFileTest, KeepsAndCountsWhatFitted) {
  const ScratchFolder folder;
  const std::string answer = testing::in_child([&] {
    const rlimit limit{300'000, 300'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    auto file = PartialFile::open(folder / "part");
    if (!file.ok()) return file.status().to_string();
    const auto status = file->write(std::string(500'000, 'x'));
    return std::string(core::name_of(status.code())) + " " + std::to_string(file->size());
  });
  EXPECT_EQ(answer, "IO 300000");
  EXPECT_EQ(read_file(folder / "part").size(), 300'000U);
}

TEST(PartialFileTest, RefusesWhatIsNoFile) {
  const ScratchFolder folder;
  EXPECT_EQ(PartialFile::open(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PartialFile::open("/dev/null").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(PartialFile::open(folder / "none" / "part").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(PartialFile::open("").status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(PartialFile::open(folder / "pipe").ok());
}

TEST(PartialFileTest, DoesNotFollowALink) {
  const ScratchFolder folder;
  write_file(folder / "other", "mine");
  std::filesystem::create_symlink("other", folder / "part");
  EXPECT_FALSE(PartialFile::open(folder / "part").ok());
  EXPECT_EQ(read_file(folder / "other"), "mine");
}

}  // namespace
}  // namespace latebind::platform
