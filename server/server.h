// Server assembles the daemon: transport, access, routes, service, metrics, log and traces.
//
// After open() and start() it answers at once, as not ready. The caller then adds the models and calls set_ready(). All
// functions are thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/settings.h"
#include "core/result.h"
#include "server/service.h"

namespace latebind::server {

struct InheritedListener {
  int descriptor = -1;
  bool is_unix = false;
};

struct ServerOptions {
  app::Settings settings{};
  std::vector<InheritedListener> inherited{};  // replaces settings.listen
  // Receives the lines of the log, without newlines.
  std::function<void(std::string_view line)> log{};
  std::string cache_folder{};  // for the status; empty: no cache
};

class Server {
 public:
  // Returns kInvalidArgument for settings that are invalid or contradict each other. Reads no files.
  [[nodiscard]] static core::Status check(const app::Settings& settings);
  // Returns the errors of check(), of binding, and of reading keys and certificates.
  static core::Result<std::unique_ptr<Server>> open(ServerOptions options);
  // Closes all connections at once.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Facts to warn the operator about, such as an address that others can reach without a key.
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] const std::vector<std::string>& addresses() const;

  [[nodiscard]] core::Status start();
  [[nodiscard]] Service& service();

  // Reloads keys and certificates. On an error the old ones stay in use.
  [[nodiscard]] core::Status reload();
  // Sets whether requests are logged.
  void log_requests(bool wanted);

  // Stops accepting, reports not ready, and waits for the accepted requests. Returns false if some were still in
  // progress when the time was up.
  [[nodiscard]] bool drain(std::chrono::milliseconds time);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace latebind::server
