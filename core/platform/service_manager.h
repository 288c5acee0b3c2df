// What a service manager such as systemd and its service say to each other: sockets that it opened for the service
// (socket activation, the protocol of sd_listen_fds(3)), and what the service tells it (sd_notify(3), datagrams to a
// socket). Neither needs a library of systemd's. Without a service manager, and on Windows, there are no such sockets
// and messages go nowhere.
//
// Both of_environment() and inherited_sockets() take what they read out of the environment, so that children do not
// take it for theirs: once, at the start of a program, before another thread reads the environment.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::platform {

// A stream socket that listens, and that is the caller's to close. Children of this process do not get it.
struct InheritedSocket {
  int descriptor = -1;
  bool is_unix = false;  // else TCP over IPv4 or IPv6
};

inline constexpr std::size_t kInheritedSocketsMax = 64;

// Those that the service manager has passed to this process, in the order of its configuration. None when they are
// meant for another process. Anything but a listening stream socket is refused with its number, as is a count that
// makes no sense.
[[nodiscard]] core::Result<std::vector<InheritedSocket>> inherited_sockets();

// The service manager that wants to hear from this process. It never blocks: what the service manager has no room for
// is sent with the next message. Any thread, one at a time inside.
class ServiceManager {
 public:
  // Gets the first failure; the others, which are likely to be alike, are silent.
  using Warn = std::function<void(const core::Status&)>;

  // From NOTIFY_SOCKET, and WATCHDOG_USEC with WATCHDOG_PID.
  [[nodiscard]] static ServiceManager of_environment(Warn warn = nullptr);
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ~ServiceManager();

  // False when there is none, and all messages go nowhere.
  [[nodiscard]] bool is_there() const noexcept;

  // The service has started, or has been reloaded, and can be used.
  void ready(std::string_view status);
  // It reads its configuration again; ready() says when it is done.
  void reloading();
  // It is about to end.
  void stopping();
  // One line for a person, cut after 1,000 bytes; line ends become spaces.
  void status(std::string_view text);
  // It is alive: to be called at least once in each watchdog_interval(), better twice.
  void watchdog();
  // Nothing when the service manager does not ask for it.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const noexcept;

 private:
  struct Channel;
  explicit ServiceManager(std::unique_ptr<Channel> channel) noexcept;

  std::unique_ptr<Channel> channel_;
};

}  // namespace latebind::platform
