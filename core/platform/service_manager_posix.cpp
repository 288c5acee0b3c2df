#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <system_error>
#include <utility>

#include "core/platform/environment.h"
#include "core/platform/service_manager.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/threads/mutex.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr int kFirstSocket = 3;
constexpr std::size_t kStatusSizeMax = 1000;
// Together with one more message it fits into the 4,096 bytes that systemd reads of a datagram.
constexpr std::size_t kWaitingSizeMax = 3000;

// Returns the value of a variable and removes the variable.
std::optional<std::string> taken(const char* name) {
  auto value = environment(name);
  ::unsetenv(name);
  return value;
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

Status refused(std::string_view variable, const std::string& value, std::string_view reason) {
  return Status(StatusCode::kInvalidArgument,
                fmt::format("cannot take the sockets of the service manager: {} is {}, {}", variable,
                            core::quoted(value), reason));
}

std::optional<int> option_of(int descriptor, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  if (::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) != 0) return std::nullopt;
  return value;
}

Result<InheritedSocket> inherited_socket(int descriptor) {
  const auto refuse = [descriptor](std::string_view what) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot listen on descriptor {} of the service manager: {}; use a listening stream "
                              "socket (ListenStream= and Accept=no)",
                              descriptor, what));
  };
  const int flags = ::fcntl(descriptor, F_GETFD);
  if (flags < 0 || ::fcntl(descriptor, F_SETFD, static_cast<unsigned>(flags) | FD_CLOEXEC) < 0) {
    return refuse("it is not open");
  }
  const auto type = option_of(descriptor, SO_TYPE);
  if (!type) return refuse("it is not a socket");
  if (*type != SOCK_STREAM) return refuse("it is a socket, but not a stream");
  if (option_of(descriptor, SO_ACCEPTCONN) != 1) return refuse("it does not listen");
  const auto family = option_of(descriptor, SO_DOMAIN);
  const bool is_tcp = family == AF_INET || family == AF_INET6;
  if (family != AF_UNIX && !is_tcp) return refuse("it is neither TCP nor a Unix socket");
  return InheritedSocket{descriptor, family == AF_UNIX};
}

// Fills in the address and returns its size, or std::nullopt when `text` is not the name of a socket: a path, or a name
// in the kernel's abstract namespace, written with @ for its zero byte.
std::optional<socklen_t> fill_address(sockaddr_un& address, const std::string& text) {
  if (text.size() < 2 || (text[0] != '/' && text[0] != '@') || text.size() >= sizeof(address.sun_path)) {
    return std::nullopt;
  }
  address.sun_family = AF_UNIX;
  std::ranges::copy(text, address.sun_path);
  const bool is_abstract = text[0] == '@';
  if (is_abstract) address.sun_path[0] = '\0';
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + (is_abstract ? 0 : 1));
}

std::string status_line(std::string_view text) {
  const std::string line = core::one_line(text);
  return fmt::format("STATUS={}\n", core::cut_utf8(line, kStatusSizeMax));
}

std::optional<std::chrono::microseconds> asked_watchdog() {
  const auto interval = taken("WATCHDOG_USEC");
  const auto process = taken("WATCHDOG_PID");
  if (!interval || (process && number_of<pid_t>(*process) != ::getpid())) return std::nullopt;
  const auto count = number_of<std::chrono::microseconds::rep>(*interval);
  if (!count || *count == 0) return std::nullopt;
  return std::chrono::microseconds(*count);
}

}  // namespace

Result<std::vector<InheritedSocket>> inherited_sockets() {
  const auto process = taken("LISTEN_PID");
  const auto count = taken("LISTEN_FDS");
  ::unsetenv("LISTEN_FDNAMES");
  std::vector<InheritedSocket> sockets;
  if (!process || !count) return sockets;
  const auto meant = number_of<pid_t>(*process);
  if (!meant) return refused("LISTEN_PID", *process, "which is not a process");
  if (*meant != ::getpid()) return sockets;
  const auto wanted = number_of<std::size_t>(*count);
  if (!wanted || *wanted > kInheritedSocketsMax) {
    return refused("LISTEN_FDS", *count, fmt::format("which is not a number up to {}", kInheritedSocketsMax));
  }
  for (int i = 0; i < static_cast<int>(*wanted); ++i) {
    LB_ASSIGN_OR_RETURN(const auto socket, inherited_socket(kFirstSocket + i));
    sockets.push_back(socket);
  }
  return sockets;
}

struct ServiceManager::Channel {
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (descriptor >= 0) ::close(descriptor);
  }

  void open(const std::string& place) {
    const auto found = fill_address(address, place);
    if (!found) {
      warn_of(fmt::format("NOTIFY_SOCKET is {}, which is neither a path nor an @name that fits into an address",
                          core::quoted(place)));
      return;
    }
    address_size = *found;
    descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) warn_of(std::generic_category().message(errno));
  }

  // Called without the mutex, because the callback may send a message itself.
  void warn_of(std::string_view reason) {
    Warn once;
    {
      const core::MutexLock lock(mutex);
      once = std::exchange(warn, nullptr);
    }
    if (once) once(Status(StatusCode::kIo, fmt::format("cannot notify the service manager: {}", reason)));
  }

  // `is_kept`: whether the message is sent later if there is no room for it now.
  void send(std::string_view message, bool is_kept) {
    if (descriptor < 0) return;
    const int error = error_of_sending(message, is_kept);
    if (error != 0 && error != EAGAIN) warn_of(std::generic_category().message(error));
  }

  int error_of_sending(std::string_view message, bool is_kept) {
    const core::MutexLock lock(mutex);
    std::string text = waiting;
    text += message;
    iovec part{text.data(), text.size()};
    msghdr datagram{};
    datagram.msg_name = &address;
    datagram.msg_namelen = address_size;
    datagram.msg_iov = &part;
    datagram.msg_iovlen = 1;
    ssize_t sent = -1;
    do {
      sent = ::sendmsg(descriptor, &datagram, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) {
      waiting.clear();
      return 0;
    }
    const int error = errno;
    if (is_kept && text.size() < kWaitingSizeMax) waiting = std::move(text);
    return error;
  }

  // Constant after from_environment().
  sockaddr_un address{};
  socklen_t address_size = 0;
  int descriptor = -1;
  std::optional<std::chrono::microseconds> watchdog;

  core::Mutex mutex;
  Warn warn LB_GUARDED_BY(mutex);
  std::string waiting LB_GUARDED_BY(mutex);
};

ServiceManager::ServiceManager(std::unique_ptr<Channel> channel) noexcept : channel_(std::move(channel)) {}
ServiceManager::ServiceManager(ServiceManager&& other) noexcept = default;
ServiceManager& ServiceManager::operator=(ServiceManager&& other) noexcept = default;
ServiceManager::~ServiceManager() = default;

ServiceManager ServiceManager::from_environment(Warn warn) {
  auto channel = std::make_unique<Channel>();
  {
    const core::MutexLock lock(channel->mutex);
    channel->warn = std::move(warn);
  }
  channel->watchdog = asked_watchdog();
  if (const auto place = taken("NOTIFY_SOCKET")) channel->open(*place);
  return ServiceManager(std::move(channel));
}

bool ServiceManager::is_there() const noexcept {
  return channel_->descriptor >= 0;
}

void ServiceManager::ready(std::string_view status) {
  channel_->send("READY=1\n" + status_line(status), true);
}

void ServiceManager::reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  channel_->send(fmt::format("RELOADING=1\nMONOTONIC_USEC={}\n", microseconds), true);
}

void ServiceManager::stopping() {
  channel_->send("STOPPING=1\n", true);
}

void ServiceManager::status(std::string_view text) {
  channel_->send(status_line(text), false);
}

void ServiceManager::watchdog() {
  channel_->send("WATCHDOG=1\n", false);
}

std::optional<std::chrono::microseconds> ServiceManager::watchdog_interval() const noexcept {
  return is_there() ? channel_->watchdog : std::nullopt;
}

}  // namespace latebind::platform
