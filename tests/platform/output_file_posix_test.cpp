#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/platform/files/output_file.h"
#include "tests/platform/support.h"
#include "tests/support/latch.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using testing::ScratchFolder;
using Names = std::vector<std::string>;

Status write_whole(const std::filesystem::path& file, std::string_view text) {
  LB_ASSIGN_OR_RETURN(OutputFile output, OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(text));
  return output.commit();
}

Status overwrite(OutputFile& output, std::size_t offset, std::string_view text) {
  return output.write_at(offset, std::as_bytes(std::span(text)));
}

mode_t mode_of(const std::filesystem::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

TEST(OutputFileTest, AppearsOnlyWhenItIsComplete) {
  const ScratchFolder folder;
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  ASSERT_TRUE(output->write("some ").ok());
  ASSERT_TRUE(output->write("text").ok());
  EXPECT_EQ(output->size(), 9U);
  EXPECT_TRUE(output->is_rewritable());
  EXPECT_FALSE(std::filesystem::exists(folder / "file"));
  EXPECT_EQ(folder.names().size(), 1U) << "the temporary file is beside the final place";
  ASSERT_TRUE(output->commit().ok());
  EXPECT_EQ(testing::read_file(folder / "file"), "some text");
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFileTest, CanBeEmpty) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_whole(folder / "file", "").ok());
  EXPECT_EQ(testing::read_file(folder / "file"), "");
}

TEST(OutputFileTest, LeavesTheOldContentWithoutACommit) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "old");
  {
    auto output = OutputFile::create(folder / "file");
    ASSERT_TRUE(output.ok());
    ASSERT_TRUE(output->write(std::string(1'000'000, 'n')).ok());
    EXPECT_EQ(testing::read_file(folder / "file"), "old");
  }
  EXPECT_EQ(testing::read_file(folder / "file"), "old");
  EXPECT_EQ(folder.names(), Names{"file"}) << "the temporary file is gone";
}

TEST(OutputFileTest, LeavesTheOldContentWhenAnExceptionPasses) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "old");
  const auto fail = [&] {
    auto output = OutputFile::create(folder / "file");
    EXPECT_TRUE(output.ok() && output->write("new").ok());
    throw std::runtime_error("on the way");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(testing::read_file(folder / "file"), "old");
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFileTest, LeavesTheOldContentWhenTheProcessDies) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "old");
  EXPECT_EQ(testing::in_child([&]() -> std::string {
              auto output = OutputFile::create(folder / "file");
              if (output.ok() && output->write(std::string(1'000'000, 'n')).ok()) ::_exit(0);
              return "not written";
            }),
            "");
  EXPECT_EQ(testing::read_file(folder / "file"), "old");
}

TEST(OutputFileTest, CarriesWritesOfEverySizeInOrder) {
  const ScratchFolder folder;
  std::mt19937 random(7);
  std::string expected;
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok());
  for (const std::size_t size : {0U, 1U, 262'143U, 1U, 262'144U, 5U, 262'145U, 100'000U, 200'000U, 1'000'000U, 3U}) {
    std::string block(size, '\0');
    for (char& c : block)
      c = static_cast<char>(random());
    ASSERT_TRUE(output->write(block).ok());
    expected += block;
    EXPECT_EQ(output->size(), expected.size());
  }
  ASSERT_TRUE(output->commit().ok());
  EXPECT_TRUE(testing::read_file(folder / "file") == expected);
}

TEST(OutputFileTest, OverwritesWhatIsBufferedWhatIsOnDiskAndAcrossBoth) {
  const ScratchFolder folder;
  std::string expected(300'000, 'a');
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok());
  const auto both = [&](std::size_t offset, std::string_view text) {
    EXPECT_TRUE(overwrite(*output, offset, text).ok());
    expected.replace(offset, text.size(), text);
  };
  ASSERT_TRUE(output->write(std::string_view(expected).substr(0, 10)).ok());
  both(0, "buffered");
  ASSERT_TRUE(output->write(std::string_view(expected).substr(10)).ok());  // larger than the buffer
  ASSERT_TRUE(output->write("tail in the buffer").ok());
  expected += "tail in the buffer";
  both(3, "on disk");
  ASSERT_TRUE(output->write("more").ok());
  expected += "more";
  both(expected.size() - 10, "across bot");
  both(299'995, "the border of the two");
  both(expected.size(), "");
  EXPECT_EQ(output->size(), expected.size());
  ASSERT_TRUE(output->write("end").ok());  // at the end, not where was overwritten
  expected += "end";
  ASSERT_TRUE(output->commit().ok());
  EXPECT_TRUE(testing::read_file(folder / "file") == expected);
}

TEST(OutputFileTest, OverwritesOnlyWhatIsWritten) {
  const ScratchFolder folder;
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok() && output->write("0123456789").ok());
  EXPECT_EQ(overwrite(*output, 9, "xy").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(overwrite(*output, 11, "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(overwrite(*output, SIZE_MAX, "x").code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(output->commit().ok()) << "a refused call does no harm";
  EXPECT_EQ(testing::read_file(folder / "file"), "0123456789");
}

TEST(OutputFileTest, CannotBeUsedAfterItsEnd) {
  const ScratchFolder folder;
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok() && output->write("x").ok() && output->commit().ok());
  EXPECT_EQ(output->write("y").code(), StatusCode::kInternal);
  EXPECT_EQ(overwrite(*output, 0, "y").code(), StatusCode::kInternal);
  EXPECT_EQ(output->commit().code(), StatusCode::kInternal);
  EXPECT_EQ(testing::read_file(folder / "file"), "x");
}

TEST(OutputFileTest, MovesItsFile) {
  const ScratchFolder folder;
  auto first = OutputFile::create(folder / "first");
  auto second = OutputFile::create(folder / "second");
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->write("one").ok());
  *second = *std::move(first);                                 // drops the second file
  EXPECT_EQ(first->write("x").code(), StatusCode::kInternal);  // NOLINT(bugprone-use-after-move): that is the test
  OutputFile third = *std::move(second);
  ASSERT_TRUE(third.write(" two").ok());
  ASSERT_TRUE(third.commit().ok());
  EXPECT_EQ(testing::read_file(folder / "first"), "one two");
  EXPECT_EQ(folder.names(), Names{"first"});
}

TEST(OutputFileTest, SurvivesAChangeOfTheCurrentFolder) {
  const ScratchFolder folder;
  const ScratchFolder other;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  auto output = OutputFile::create("relative");
  std::filesystem::current_path(other.path());
  const bool done = output.ok() && output->write("x").ok() && output->commit().ok();
  std::filesystem::current_path(before);
  EXPECT_TRUE(done);
  EXPECT_EQ(folder.names(), Names{"relative"});
  EXPECT_TRUE(other.names().empty());
}

TEST(OutputFileTest, TakesNamesOfTheGreatestLength) {
  const ScratchFolder folder;
  const std::string name(255, 'n');
  EXPECT_TRUE(write_whole(folder / name, "x").ok());
  EXPECT_EQ(folder.names(), Names{name});
}

TEST(OutputFileTest, RefusesWhatIsNoPlaceForAFile) {
  const ScratchFolder folder;
  const auto refusal = [](const std::filesystem::path& file) { return OutputFile::create(file).status(); };
  EXPECT_EQ(refusal("").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(std::string("/tmp/a\0b", 8)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(folder.path()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal(folder / "new" / "").code(), StatusCode::kInvalidArgument) << "a folder by its name";
  EXPECT_EQ(refusal(folder / std::string(300, 'n')).code(), StatusCode::kInvalidArgument);
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(refusal(folder / "file" / "below").code(), StatusCode::kNotFound);

  const Status status = refusal(folder / "new" / "file");
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.to_string(), "cannot write '" + (folder / "new" / "file").string() + "': the folder '" +
                                    (folder / "new").string() + "' does not exist; create it first");
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFileTest, NamesTheFolderThatMayNotBeWritten) {
  const ScratchFolder folder;
  const auto closed = folder / "closed";
  std::filesystem::create_directory(closed);
  ::chmod(closed.c_str(), 0555);
  const std::string answer = testing::as_nobody([&] {
    const Status status = OutputFile::create(closed / "file").status();
    return std::string(core::name_of(status.code())) + " " + status.to_string();
  });
  EXPECT_NE(answer.find("PERMISSION_DENIED"), std::string::npos) << answer;
  EXPECT_NE(answer.find("cannot create a file in the folder '" + closed.string() + "'"), std::string::npos) << answer;
}

TEST(OutputFileTest, DoesNotGetAroundAReadOnlyFile) {
  const ScratchFolder folder;
  ::chmod(folder.path().c_str(), 0777);
  testing::write_file(folder / "file", "old");
  ::chmod((folder / "file").c_str(), 0444);
  EXPECT_EQ(testing::as_nobody(
                [&] { return std::string(core::name_of(OutputFile::create(folder / "file").status().code())); }),
            "PERMISSION_DENIED");
  EXPECT_EQ(testing::read_file(folder / "file"), "old");
}

TEST(OutputFileTest, GetsThePermissionsOfTheUmaskOrOfTheFileItReplaces) {
  const ScratchFolder folder;
  const mode_t before = ::umask(027);
  const bool written = write_whole(folder / "new", "x").ok();
  testing::write_file(folder / "private", "old");
  ::chmod((folder / "private").c_str(), 0600);
  testing::write_file(folder / "open", "old");
  ::chmod((folder / "open").c_str(), 0666);
  const bool replaced = write_whole(folder / "private", "x").ok() && write_whole(folder / "open", "x").ok();
  ::umask(before);
  EXPECT_TRUE(written && replaced);
  EXPECT_EQ(mode_of(folder / "new"), 0640U);
  EXPECT_EQ(mode_of(folder / "private"), 0600U);
  EXPECT_EQ(mode_of(folder / "open"), 0666U);
}

TEST(OutputFileTest, ReplacesTheFileBehindALinkAndKeepsTheLink) {
  const ScratchFolder folder;
  const ScratchFolder other;
  testing::write_file(other / "file", "old");
  std::filesystem::create_symlink(other / "file", folder / "link");
  std::filesystem::create_symlink("link", folder / "second");
  ASSERT_TRUE(write_whole(folder / "second", "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "second"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(testing::read_file(other / "file"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(other / "file"));

  std::filesystem::create_symlink(other / "later", folder / "dangling");
  ASSERT_TRUE(write_whole(folder / "dangling", "new").ok());
  EXPECT_EQ(testing::read_file(other / "later"), "new");

  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(OutputFile::create(folder / "loop").status().code(), StatusCode::kIo);
  std::filesystem::create_symlink(other.path(), folder / "to-folder");
  EXPECT_EQ(OutputFile::create(folder / "to-folder").status().code(), StatusCode::kInvalidArgument);
}

TEST(OutputFileTest, FollowsNoLinkThatAnotherUserLaidInASharedFolder) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can give a link away";
  constexpr uid_t kStranger = 54321;
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "sticky");
  ASSERT_EQ(::chmod((folder / "sticky").c_str(), 01777), 0);
  testing::write_file(folder / "precious", "old");
  const auto laid = folder / "sticky/out";
  const auto dangling = folder / "sticky/dangling";
  std::filesystem::create_symlink(folder / "precious", laid);
  std::filesystem::create_symlink(folder / "made", dangling);
  for (const auto& link : {laid, dangling}) {
    ASSERT_EQ(::lchown(link.c_str(), kStranger, kStranger), 0);
    const Status status = OutputFile::create(link).status();
    EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
    EXPECT_NE(status.message().find("sticky/" + link.filename().string() + "' is a link of another user (54321)"),
              std::string::npos)
        << status.message();
  }
  EXPECT_EQ(testing::read_file(folder / "precious"), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "made"));
  std::filesystem::create_symlink(laid, folder / "ours");
  EXPECT_EQ(OutputFile::create(folder / "ours").status().code(), StatusCode::kPermissionDenied) << "further on as well";

  // The folder's owner may, as he may replace any file in it; and so may anybody in a folder of his own.
  ASSERT_EQ(::chown((folder / "sticky").c_str(), kStranger, kStranger), 0);
  EXPECT_TRUE(write_whole(laid, "new").ok());
  EXPECT_EQ(testing::read_file(folder / "precious"), "new");
  ASSERT_EQ(::chown((folder / "sticky").c_str(), 0, 0), 0);
  ASSERT_EQ(::lchown(laid.c_str(), 0, 0), 0);
  EXPECT_TRUE(write_whole(laid, "ours").ok());
  EXPECT_EQ(testing::read_file(folder / "precious"), "ours");
}

TEST(OutputFileTest, SaysSoWhenItsFolderVanishes) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "short-lived");
  auto output = OutputFile::create(folder / "short-lived" / "file");
  ASSERT_TRUE(output.ok() && output->write("x").ok());
  std::filesystem::remove_all(folder / "short-lived");
  EXPECT_EQ(output->commit().code(), StatusCode::kNotFound);
  EXPECT_EQ(output->write("y").code(), StatusCode::kNotFound) << "the first error is repeated";
}

TEST(OutputFileTest, RemovesTheTemporaryFileWhenTheRenameFails) {
  const ScratchFolder folder;
  auto output = OutputFile::create(folder / "file");
  ASSERT_TRUE(output.ok() && output->write("x").ok());
  std::filesystem::create_directories(folder / "file" / "below");  // in the way now
  EXPECT_FALSE(output->commit().ok());
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFileTest, LeavesOneWholeContentWhenManyCommitAtOnce) {
  constexpr std::size_t kThreads = 8;
  constexpr int kRounds = 10;
  constexpr std::size_t kSize = 300'000;
  const ScratchFolder folder;
  test::Latch start(kThreads);
  std::vector<std::thread> threads;
  std::vector<std::string> errors(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        const Status status = write_whole(folder / "file", std::string(kSize, static_cast<char>('a' + i)));
        if (!status.ok()) errors[i] = status.to_string();
      }
    });
  }
  // Whoever reads meanwhile sees one of them, whole.
  start.wait();
  for (int look = 0; look < 20; ++look) {
    if (!std::filesystem::exists(folder / "file")) continue;
    const std::string seen = testing::read_file(folder / "file");
    EXPECT_TRUE(seen == std::string(kSize, seen.at(0)));
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(kThreads));
  const std::string last = testing::read_file(folder / "file");
  EXPECT_TRUE(last == std::string(kSize, last.at(0)));
  EXPECT_EQ(folder.names(), Names{"file"});
}

TEST(OutputFileTest, KeepsNoDescriptorOpen) {
  const ScratchFolder folder;
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = count();
  {
    ASSERT_TRUE(write_whole(folder / "file", "x").ok());
    ASSERT_TRUE(write_whole("/dev/null", "x").ok());
    const auto dropped = OutputFile::create(folder / "file");
    const auto refused = OutputFile::create(folder.path());
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace latebind::platform
