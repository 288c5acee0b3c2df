// Communication with a service manager such as systemd: the sockets that it opened for the service (socket activation,
// the protocol of sd_listen_fds(3)), and the messages of the service to it (sd_notify(3), datagrams to a socket). It
// needs no library of systemd. Without a service manager, and on Windows, there are no such sockets and messages are
// dropped.
//
// from_environment() and inherited_sockets() remove the variables that they read from the environment, so that children
// do not take them for their own. Call each once, at the start of a program, before another thread reads the
// environment.
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

// A listening stream socket, which the caller must close. Children of this process do not inherit it.
struct InheritedSocket {
  int descriptor = -1;
  bool is_unix = false;  // else TCP over IPv4 or IPv6
};

inline constexpr std::size_t kInheritedSocketsMax = 64;

// Returns the sockets that the service manager has passed to this process, in the order of its configuration; an empty
// list when they are meant for another process. Fails, naming the descriptor, if one is not a listening stream socket,
// and if the count is invalid.
[[nodiscard]] core::Result<std::vector<InheritedSocket>> inherited_sockets();

// The service manager that wants messages from this process. Its functions never block: a message for which the service
// manager has no room is sent with the next one. They may be called from any thread, but by one at a time.
class ServiceManager {
 public:
  // Receives the first failure. Later ones, which are likely to be alike, are not reported.
  using Warn = std::function<void(const core::Status&)>;

  // Reads NOTIFY_SOCKET, and WATCHDOG_USEC with WATCHDOG_PID.
  [[nodiscard]] static ServiceManager from_environment(Warn warn = nullptr);
  ServiceManager(ServiceManager&& other) noexcept;
  ServiceManager& operator=(ServiceManager&& other) noexcept;
  ~ServiceManager();

  // Returns false when there is no service manager, so that all messages are dropped.
  [[nodiscard]] bool is_there() const noexcept;

  // The service has started, or has been reloaded, and can be used.
  void ready(std::string_view status);
  // The service reads its configuration again; ready() says when it is done.
  void reloading();
  // The service is about to end.
  void stopping();
  // One line for a person. It is cut after 1,000 bytes, and line ends become spaces.
  void status(std::string_view text);
  // The service is alive. Call it at least once in each watchdog_interval(), better twice.
  void watchdog();
  // Returns std::nullopt when the service manager does not ask for watchdog messages.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog_interval() const noexcept;

 private:
  struct Channel;
  explicit ServiceManager(std::unique_ptr<Channel> channel) noexcept;

  std::unique_ptr<Channel> channel_;
};

}  // namespace latebind::platform
