// Server: the daemon, put together: transport, access, routes, service, and what is told of it.
//
// open() and start() bind and answer at once, as not ready; then models are added and set_ready() lets requests in. All
// functions may be called from any thread.
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
  std::vector<InheritedListener> inherited{};  // instead of settings.listen
  // A line of the log, without its end.
  std::function<void(std::string_view line)> log{};
  std::string cache_folder{};  // for the status; empty: none
};

class Server {
 public:
  // kInvalidArgument for settings that make no sense by themselves or together. Looks at no file.
  [[nodiscard]] static core::Status check(const app::Settings& settings);
  // check(), and the errors of binding, and of files of keys and TLS.
  static core::Result<std::unique_ptr<Server>> open(ServerOptions options);
  // Ends everything at once.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Something that whoever started it should know, such as a place that others reach without a key.
  [[nodiscard]] std::vector<std::string> warnings() const;
  [[nodiscard]] const std::vector<std::string>& addresses() const;

  [[nodiscard]] core::Status start();
  [[nodiscard]] Service& service();

  // Reads keys and certificates again; on error the old ones stay.
  [[nodiscard]] core::Status reload();
  // Whether each request has a line in the log. Any thread.
  void log_requests(bool wanted);

  // Accepts nothing more, is not ready, and waits for requests that it has accepted. False when some were still in
  // progress when the time was up.
  [[nodiscard]] bool drain(std::chrono::milliseconds time);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace latebind::server
