#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill() and sigset_t are POSIX, not C
#include <spawn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "core/platform/child_process.h"
#include "core/platform/child_watch.h"
#include "core/platform/kept_child.h"
#include "core/platform/os_error.h"
#include "core/platform/process_generation.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;

// How often the child is polled if the kernel does not report its end.
constexpr std::chrono::milliseconds kPause{5};
// A killed process is gone at once, unless a driver holds it.
constexpr std::chrono::milliseconds kReapTimeMax{2000};
constexpr std::string_view kParentVariable = "LATEBIND_PARENT_PROCESS=";

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

  // Returns 0 or an errno. Neither end is inherited.
  int open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    return 0;
  }
};

// The arguments of posix_spawn().
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

  // `input`: -1 for none.
  int spawn(pid_t& child, const std::filesystem::path& program, char* const* arguments, char* const* environment,
            int input, int output, int errors) {
    sigset_t none;
    sigset_t ignored;
    ::sigemptyset(&none);
    ::sigemptyset(&ignored);
    ::sigaddset(&ignored, SIGPIPE);  // this program may ignore both
    ::sigaddset(&ignored, SIGXFSZ);
    int error = input < 0 ? ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
                          : ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    if (error == 0) error = ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    // Other code in this process may open files without O_CLOEXEC.
    if (error == 0) error = ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    if (error == 0) error = ::posix_spawnattr_setpgroup(&attributes_, 0);
    if (error == 0) error = ::posix_spawnattr_setsigmask(&attributes_, &none);
    if (error == 0) error = ::posix_spawnattr_setsigdefault(&attributes_, &ignored);
    constexpr auto kFlags = static_cast<short>(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) error = ::posix_spawnattr_setflags(&attributes_, kFlags);
    if (error == 0) error = ::posix_spawn(&child, program.c_str(), &actions_, &attributes_, arguments, environment);
    return error;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads what is available now. Returns false when the stream has ended.
bool drain(int fd, std::string& text, std::size_t most) {
  std::array<char, 16384> buffer{};
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const auto size = static_cast<std::size_t>(count);
  text.append(buffer.data(), std::min(size, most - std::min(most, text.size())));
  return size > 0;
}

// Reads what the child has left in a stream. The child's own children may continue to write, so it reads no more than a
// pipe holds.
void drain_rest(Descriptor& stream, std::string& text, std::size_t most) {
  constexpr int kReadsMax = 64;
  pollfd watched{stream.get(), POLLIN, 0};
  for (int i = 0; i < kReadsMax && stream.get() >= 0 && ::poll(&watched, 1, 0) > 0; ++i) {
    if (!drain(stream.get(), text, most)) stream.close();
  }
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// Reads until the child has ended or the time is up. The child's own children may keep the streams open for longer.
ChildWatch::State watch(ChildWatch& child, Descriptor& output, Descriptor& errors, Clock::time_point deadline,
                        const ChildLimits& limits, ChildOutcome& outcome) {
  auto state = child.look();
  while (state == ChildWatch::State::kRuns && Clock::now() < deadline) {
    std::array<pollfd, 3> watched{pollfd{output.get(), POLLIN, 0}, pollfd{errors.get(), POLLIN, 0},
                                  pollfd{child.descriptor(), POLLIN, 0}};
    const int most = child.descriptor() >= 0 ? milliseconds_until(deadline)
                                             : std::min<int>(kPause.count(), milliseconds_until(deadline));
    const int ready = ::poll(watched.data(), watched.size(), most);
    if (ready < 0 && errno != EINTR && errno != EAGAIN) break;
    if (ready > 0 && watched[0].revents != 0 && !drain(output.get(), outcome.output, limits.output_bytes)) {
      output.close();
    }
    if (ready > 0 && watched[1].revents != 0 && !drain(errors.get(), outcome.errors, limits.output_bytes)) {
      errors.close();
    }
    state = child.look();
  }
  drain_rest(output, outcome.output, limits.output_bytes);
  drain_rest(errors, outcome.errors, limits.output_bytes);
  return state;
}

// This environment, with the parent's number: see end_with_parent().
std::vector<std::string> environment_of_child() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with(kParentVariable)) variables.emplace_back(*variable);
  }
  variables.push_back(fmt::format("{}{}", kParentVariable, ::getpid()));
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
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
  const auto words = pointers_to(texts);
  auto variables = environment_of_child();
  const auto environment = pointers_to(variables);

  pid_t number = -1;
  Plan plan;
  if (const int error =
          plan.spawn(number, program, words.data(), environment.data(), -1, output.write.get(), errors.write.get());
      error != 0) {
    return no_child(program, error);
  }
  ChildWatch child(number);
  output.write.close();
  errors.write.close();

  ChildOutcome outcome;
  const bool late = watch(child, output.read, errors.read, deadline, limits, outcome) == ChildWatch::State::kRuns;
  // Kills the whole group before its number may be reused, so that the child's own children end with it.
  child.kill_group();
  const auto end = child.reap(kReapTimeMax);
  if (late) {
    outcome.end = ChildOutcome::End::kTimedOut;
  } else if (end == ChildWatch::State::kEndedUnknown) {
    outcome.end = ChildOutcome::End::kUnknown;
  } else {
    outcome.end = child.by_signal() ? ChildOutcome::End::kSignal : ChildOutcome::End::kExited;
    outcome.number = child.number();
  }
  return outcome;
}

struct KeptChild::Parts {
  Parts(OwnedFile end, pid_t number) : socket(std::move(end)), watch(number) {}
  OwnedFile socket;
  ChildWatch watch;
  MadeIn made{};
  std::optional<std::string> ended{};
};

Result<std::unique_ptr<KeptChild>> KeptChild::start(const std::filesystem::path& program,
                                                    const std::vector<std::string>& arguments) {
  LB_RETURN_IF_ERROR(check_path("start", program));
  LB_ASSIGN_OR_RETURN(auto ends, connected_sockets());
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  const auto words = pointers_to(texts);
  pid_t number = -1;
  Plan plan;
  const int error =
      plan.spawn(number, program, words.data(), ::environ, ends.second.get(), STDERR_FILENO, STDERR_FILENO);
  if (error != 0) return no_child(program, error);
  return std::unique_ptr<KeptChild>(new KeptChild(std::make_unique<Parts>(std::move(ends.first), number)));
}

KeptChild::KeptChild(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

KeptChild::~KeptChild() {
  if (parts_->made.this_process()) static_cast<void>(end());
}

int KeptChild::socket() const {
  return parts_->socket.get();
}

// A child that is ending already keeps its own end.
std::string KeptChild::end() {
  if (parts_->ended) return *parts_->ended;
  parts_->watch.kill_group();
  const auto state = parts_->watch.reap(kReapTimeMax);
  ChildOutcome outcome;
  outcome.end = state != ChildWatch::State::kEnded ? ChildOutcome::End::kUnknown
                : parts_->watch.by_signal()        ? ChildOutcome::End::kSignal
                                                   : ChildOutcome::End::kExited;
  outcome.number = parts_->watch.number();
  parts_->ended = describe(outcome);
  return *parts_->ended;
}

bool ended_by_own_fault(const ChildOutcome& outcome) {
  if (outcome.end != ChildOutcome::End::kSignal) return false;
  // SIGBUS is not included, because its cause is more often a full disk or a file that has shrunk.
  constexpr std::array kFaults{SIGSEGV, SIGABRT, SIGILL, SIGFPE, SIGTRAP};
  return std::ranges::find(kFaults, outcome.number) != kFaults.end();
}

// The signal comes when the thread that has started this process ends. run_child() keeps that thread in the call until
// then.
void end_with_parent() {
  const std::string name(kParentVariable.substr(0, kParentVariable.size() - 1));
  const char* const text = ::getenv(name.c_str());
  if (text == nullptr) return;
  const std::string parent = text;
  // Children of this process must not see it.
  ::unsetenv(name.c_str());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent != std::to_string(::getppid())) ::_exit(EXIT_FAILURE);
}

Result<int> run_instead(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  LB_RETURN_IF_ERROR(check_path("start", program));
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  const auto words = pointers_to(texts);
  // Settings of this program (signal_watch.h, standard_streams.h) would otherwise remain in the next one.
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    ::sigaddset(&ours, number);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ})
    ::signal(number, SIG_DFL);
  ::execv(program.c_str(), words.data());
  return no_child(program, errno);
}

Result<std::filesystem::path> own_program_file() {
  std::error_code error;
  auto file = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return Status(StatusCode::kUnsupported, "the system does not report the path of this program: " + error.message());
  return file;
}

}  // namespace latebind::platform
