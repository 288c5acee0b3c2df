// OutputFile where the system refuses the bytes, and where it writes to what is no file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "core/platform/files/output_file.h"
#include "core/platform/standard_streams.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using testing::ScratchFolder;

std::string name_of(const Status& status) {
  return std::string(core::name_of(status.code()));
}

// Writes until an error, a block at a time; what the error was, after `most_blocks` what commit() says.
Status write_blocks(const std::filesystem::path& file, int most_blocks) {
  LB_ASSIGN_OR_RETURN(OutputFile output, OutputFile::create(file));
  const std::string block(100'000, 'n');
  for (int i = 0; i < most_blocks; ++i) {
    LB_RETURN_IF_ERROR(output.write(block));
  }
  return output.commit();
}

TEST(OutputFileFullDiskTest, IsNoticedByTheWriteOrTheCommit) {
  EXPECT_EQ(write_blocks("/dev/full", 100).code(), StatusCode::kDiskFull);
  EXPECT_EQ(write_blocks("/dev/full", 1).code(), StatusCode::kDiskFull) << "all of it was in the buffer until commit()";
}

TEST(OutputFileFullDiskTest, IsRepeatedByEveryLaterCall) {
  auto output = OutputFile::create("/dev/full");
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->write(std::string(1'000'000, 'x')).code(), StatusCode::kDiskFull);
  EXPECT_EQ(output->write("x").code(), StatusCode::kDiskFull);
  EXPECT_EQ(output->commit().code(), StatusCode::kDiskFull);
}

// In a mount namespace of its own, so that nobody else sees the small disk, and it goes with the child.
TEST(OutputFileFullDiskTest, LeavesTheOldContentAndNothingElse) {
  if (!testing::is_root()) GTEST_SKIP() << "only root can mount a small disk to fill";
  const ScratchFolder folder;
  const std::string answer = testing::in_child([&] {
    const char* place = folder.path().c_str();
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("latebind-test", place, "tmpfs", 0, "size=512k") != 0) {
      return std::string("no mount");
    }
    testing::write_file(folder / "file", "old");
    const std::string large = name_of(write_blocks(folder / "file", 100));
    const bool clean = folder.names() == std::vector<std::string>{"file"};
    const std::string kept = testing::read_file(folder / "file");
    const std::string small = name_of(write_blocks(folder / "file", 2));
    return large + (clean ? " clean " : " debris ") + kept + " " + small + " " +
           std::to_string(testing::read_file(folder / "file").size());
  });
  if (answer == "no mount") GTEST_SKIP() << "this root may not mount (a container without CAP_SYS_ADMIN)";
  EXPECT_EQ(answer, "DISK_FULL clean old OK 200000");
}

TEST(OutputFileFullDiskTest, IsToldFromALimitOnFileSizes) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "old");
  const std::string answer = testing::in_child([&] {
    const rlimit limit{300'000, 300'000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return std::string("no limit");
    const Status status = write_blocks(folder / "file", 100);
    return name_of(status) + " " + status.to_string();
  });
  EXPECT_EQ(answer.find("IO "), 0U) << answer;
  EXPECT_NE(answer.find("ulimit -f"), std::string::npos) << answer;
  EXPECT_EQ(testing::read_file(folder / "file"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

TEST(OutputFileSpecialTest, WritesToADeviceDirectly) {
  auto output = OutputFile::create("/dev/null");
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  EXPECT_FALSE(output->is_rewritable());
  EXPECT_TRUE(output->write("x").ok());
  EXPECT_TRUE(output->commit().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(OutputFileSpecialTest, WritesToAPipeDirectly) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0666), 0);
  std::string seen;
  std::thread reader([&] { seen = testing::read_file(folder / "pipe"); });
  // The reader may not have opened its end yet.
  Status status(StatusCode::kIo, "not tried");
  while (status.code() == StatusCode::kIo)
    status = write_blocks(folder / "pipe", 10);
  reader.join();
  EXPECT_TRUE(status.ok()) << status.to_string();
  EXPECT_TRUE(seen == std::string(1'000'000, 'n'));
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

TEST(OutputFileSpecialTest, DoesNotWaitForAReader) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0666), 0);
  const Status status = OutputFile::create(folder / "pipe").status();
  EXPECT_EQ(status.code(), StatusCode::kIo);
  EXPECT_NE(status.to_string().find("no reader"), std::string::npos) << status.to_string();
}

TEST(OutputFileSpecialTest, GoesBackOnlyInItsBuffer) {
  auto output = OutputFile::create("/dev/null");
  ASSERT_TRUE(output.ok() && output->write("0123").ok());
  const std::string_view text = "x";
  EXPECT_TRUE(output->write_at(1, std::as_bytes(std::span(text))).ok());
  ASSERT_TRUE(output->write(std::string(1'000'000, 'x')).ok());
  EXPECT_EQ(output->write_at(1, std::as_bytes(std::span(text))).code(), StatusCode::kUnsupported);
  EXPECT_TRUE(output->commit().ok()) << "a refused call does no harm";
}

// Runs `text` through /dev/stdout of a child whose standard output is `descriptor`.
std::string through_standard_output(int descriptor, std::string_view text) {
  return testing::in_child([&] {
    let_writes_fail();
    ::dup2(descriptor, STDOUT_FILENO);
    auto output = OutputFile::create("/dev/stdout");
    if (!output.ok()) return output.status().to_string();
    Status status = output->write(text);
    if (status.ok()) status = output->commit();
    return name_of(status) + " " + status.to_string();
  });
}

TEST(OutputFileSpecialTest, AppendsToTheStandardOutputWhateverItIs) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "before ");
  const int file = ::open((folder / "file").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(file, 0);
  EXPECT_EQ(through_standard_output(file, "after"), "OK ok");
  ::close(file);
  EXPECT_EQ(testing::read_file(folder / "file"), "before after");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

TEST(OutputFileSpecialTest, ReportsAReaderThatHasGone) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const std::string answer = through_standard_output(ends[1], "x");
  ::close(ends[1]);
  EXPECT_EQ(answer, "IO cannot write '/dev/stdout': Broken pipe; the reader has closed it");
}

TEST(OutputFileSpecialTest, RefusesADescriptorThatIsNotOpen) {
  EXPECT_EQ(OutputFile::create("/dev/fd/987").status().code(), StatusCode::kIo);
  EXPECT_EQ(OutputFile::create("/proc/self/fd/987").status().code(), StatusCode::kIo);
}

}  // namespace
}  // namespace latebind::platform
