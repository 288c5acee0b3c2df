#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/platform/standard_streams.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

// What a child sees whose error stream is `descriptor`.
std::string seen_on(int descriptor) {
  return testing::in_child([descriptor] {
    ::dup2(descriptor, STDERR_FILENO);
    return std::string(error_stream_is_terminal() ? "terminal " : "none ") + std::to_string(error_stream_columns());
  });
}

TEST(StandardStreamsTest, KnowATerminalAndItsWidth) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const int end = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ASSERT_GE(end, 0);
  winsize size{};
  ASSERT_EQ(::ioctl(end, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(seen_on(end), "terminal 80") << "a terminal that does not know its width";
  size.ws_col = 123;
  size.ws_row = 40;
  ASSERT_EQ(::ioctl(end, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(seen_on(end), "terminal 123");
  ::close(end);
  ::close(terminal);
}

TEST(StandardStreamsTest, TakeNoFileForATerminal) {
  const int null = ::open("/dev/null", O_WRONLY);
  ASSERT_GE(null, 0);
  EXPECT_EQ(seen_on(null), "none 80");
  ::close(null);
}

TEST(StandardStreamsTest, TurnALimitOnFileSizesIntoAnErrorOfTheWrite) {
  const testing::ScratchFolder folder;
  EXPECT_EQ(testing::in_child([&] {
              let_writes_fail();
              const rlimit none{0, 0};
              if (::setrlimit(RLIMIT_FSIZE, &none) != 0) return std::string("no limit");
              const int file = ::open((folder / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
              const ssize_t written = ::write(file, "x", 1);
              return std::string(written == -1 && errno == EFBIG ? "an error" : "no error");
            }),
            "an error");
}

TEST(StandardStreamsTest, TurnAClosedPipeIntoAnErrorOfTheWrite) {
  EXPECT_EQ(testing::in_child([] {
              let_writes_fail();
              int ends[2] = {-1, -1};
              if (::pipe(ends) != 0) return std::string("no pipe");
              ::close(ends[0]);
              const ssize_t written = ::write(ends[1], "x", 1);
              return std::string(written == -1 && errno == EPIPE ? "an error" : "no error");
            }),
            "an error");
}

TEST(StandardStreamsTest, CarryBytesAsTheyAre) {
  const testing::ScratchFolder folder;
  const std::string bytes("a\r\nb\n\x1a\0c", 8);
  EXPECT_EQ(testing::in_child([&] {
              if (std::freopen((folder / "output").c_str(), "wb", stdout) == nullptr) return std::string("no output");
              use_binary_streams();
              std::fwrite(bytes.data(), 1, bytes.size(), stdout);
              std::fflush(stdout);
              return std::string("written");
            }),
            "written");
  EXPECT_EQ(testing::read_file(folder / "output"), bytes);
}

TEST(StandardStreamsTest, KeepWhatLibrariesPrintOutOfTheResults) {
  const testing::ScratchFolder folder;
  EXPECT_EQ(testing::in_child([&] {
              if (std::freopen((folder / "output").c_str(), "wb", stdout) == nullptr) return std::string("no output");
              if (std::freopen((folder / "errors").c_str(), "wb", stderr) == nullptr) return std::string("no errors");
              std::fputs("before;", stdout);
              std::FILE* const results = take_standard_output();
              if (results == nullptr) return std::string("not taken");
              std::fputs("chatter", stdout);
              std::fflush(stdout);
              std::fputs("result", results);
              std::fflush(results);
              return std::string("written");
            }),
            "written");
  EXPECT_EQ(testing::read_file(folder / "output"), "before;result");
  EXPECT_EQ(testing::read_file(folder / "errors"), "chatter");
}

}  // namespace
}  // namespace latebind::platform
