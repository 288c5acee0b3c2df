#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() and sigset_t are POSIX, not C
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "core/platform/child_process.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;

// A child that has closed its streams is looked at again after this long.
constexpr std::chrono::milliseconds kPause{5};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Status no_child(const std::filesystem::path& program, int error) {
  if (error == EAGAIN || error == EMFILE || error == ENFILE) {
    return Status(StatusCode::kBusy,
                  fmt::format("cannot start '{}': {}", program.string(), std::generic_category().message(error)));
  }
  return status_of_errno("start", program, error);
}

struct Pipe {
  Descriptor read;
  Descriptor write;

  // 0, or errno. Neither end is inherited.
  int open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return 0;
  }
};

// What posix_spawn() is told.
class Plan {
 public:
  Plan() {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  int spawn(pid_t& child, const std::filesystem::path& program, char* const* arguments, int output, int errors) {
    sigset_t none;
    sigset_t ignored;
    ::sigemptyset(&none);
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGPIPE);  // this program may ignore it
    int error = ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Others in this process may open files without care.
    if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    if (error == 0) error = ::posix_spawnattr_setpgroup(&attributes_, 0);
    if (error == 0) error = ::posix_spawnattr_setsigmask(&attributes_, &none);
    if (error == 0) error = ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    constexpr auto kFlags = static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = ::posix_spawnattr_setflags(&attributes_, kFlags);
    if (error == 0) error = ::posix_spawn(&child, program.c_str(), &actions_, &attributes_, arguments, ::environ);
    return error;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads what is there; false when the stream has ended.
bool drain(int fd, std::string& text, std::size_t most) {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const auto size = static_cast<std::size_t>(count);
  text.append(buffer.data(), std::min(size, most - std::min(most, text.size())));
  return size > 0;
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// It stays a zombie, and its number its own.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

// Until both streams have ended, the child is gone, or the time is up. What it has started may keep the streams open.
void read_streams(pid_t child, Descriptor& output, Descriptor& errors, Clock::time_point deadline,
                  const ChildLimits& limits, ChildOutcome& outcome) {
  while ((output.get() >= 0 || errors.get() >= 0) && Clock::now() < deadline) {
    std::array<pollfd, 2> watched{pollfd{output.get(), POLLIN, 0}, pollfd{errors.get(), POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), std::min(100, milliseconds_until(deadline)));
    if (ready < 0 && errno != EINTR) return;
    if (ready > 0) {
      if (watched[0].revents != 0 && !drain(output.get(), outcome.output, limits.output_bytes)) output.close();
      if (watched[1].revents != 0 && !drain(errors.get(), outcome.errors, limits.output_bytes)) errors.close();
      continue;
    }
    // Nothing to read: whoever holds the streams now is not the child, if that is gone.
    if (has_ended(child)) return;
  }
}

}  // namespace

Result<ChildOutcome> run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                               const ChildLimits& limits) {
  LB_RETURN_IF_ERROR(check_path("start", program));
  const auto deadline = Clock::now() + limits.time;
  Pipe output;
  Pipe errors;
  if (const int error = output.open(); error != 0) return no_child(program, error);
  if (const int error = errors.open(); error != 0) return no_child(program, error);

  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);

  pid_t child = -1;
  Plan plan;
  if (const int error = plan.spawn(child, program, pointers.data(), output.write.get(), errors.write.get());
      error != 0) {
    return no_child(program, error);
  }
  output.write.close();
  errors.write.close();

  ChildOutcome outcome;
  read_streams(child, output.read, errors.read, deadline, limits, outcome);
  while (!has_ended(child) && Clock::now() < deadline)
    std::this_thread::sleep_for(kPause);
  const bool late = !has_ended(child);
  // The whole group, before its number may be given to others: what the child has started goes with it.
  ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (late) {
    outcome.end = ChildOutcome::End::kTimedOut;
  } else if (WIFSIGNALED(status)) {
    outcome.end = ChildOutcome::End::kSignal;
    outcome.number = WTERMSIG(status);
  } else {
    outcome.number = WEXITSTATUS(status);
  }
  return outcome;
}

Result<std::filesystem::path> own_program_file() {
  std::error_code error;
  auto file = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return Status(StatusCode::kUnsupported, "the system does not say which program this is: " + error.message());
  return file;
}

}  // namespace latebind::platform
