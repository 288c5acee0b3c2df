// HttpServer: listens, and passes requests on as exchanges. HTTP/1.1 with keep-alive and pipelining, over TCP, Unix
// sockets and TLS.
//
// Threads of its own run everything; the handler is called on one of them. All functions may be called from any thread.
// Whatever a client does, memory is bounded: HeldBytes bounds what large bodies and answers take together, and a
// connection has little besides.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "server/exchange.h"
#include "server/refusal.h"
#include "server/transport/http_message.h"

namespace latebind::server {

// "127.0.0.1:8080", "[::1]:0", "unix:/run/latebind.sock"; or a listening socket that was passed to the process.
struct ListenAddress {
  std::string host{};      // empty: not TCP
  std::uint16_t port = 0;  // 0: a free one
  std::string path{};      // of a Unix socket
  int inherited = -1;      // a descriptor
  bool inherited_is_unix = false;

  // kInvalidArgument names what is wrong.
  static core::Result<ListenAddress> parse(const std::string& text);
  // Only this machine can reach it.
  [[nodiscard]] bool is_local() const;
};

struct TransportOptions {
  std::vector<ListenAddress> listen{};
  std::string tls_certificate{};  // empty: no TLS
  std::string tls_key{};
  unsigned threads = 2;
  int large_nice = 0;  // how much the threads for what takes longer make way for the others (thread_nice.h)
  std::size_t connections_max = 1024;
  std::size_t connections_beyond = 64;  // above that, for probes alone
  std::size_t head_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{32} << 20;
  std::uint64_t held_bytes_max = std::uint64_t{512} << 20;  // of bodies and answers, of all connections together
  std::chrono::milliseconds first_time{10'000};             // until a connection's first request begins
  std::chrono::milliseconds idle_time{75'000};              // between two requests
  std::chrono::milliseconds head_time{10'000};              // from a request's first byte to the end of its head
  std::chrono::milliseconds body_time{60'000};              // from there to the end of its body
  std::chrono::milliseconds write_time{30'000};             // of each MiB of an answer
  std::chrono::milliseconds probe_time{2'000};              // above the limit: from accepting to the end of the head
  double refusing_processors = 1;  // how many of them refusals of paced answers may keep busy: RefusalPace
};

class HttpServer {
 public:
  // Answers the exchange, now or later.
  using Handler = std::function<void(ExchangePtr)>;
  // The answer to a request whose large body is not wanted; nothing: it is. Asked when the head is there.
  using Screen = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;
  // Whether a request is answered on a connection above the limit, too. Asked when the head is there.
  using IsProbe = std::function<bool(const HttpRequest& head)>;
  // The answer to what cannot be handled as a request: HTTP's own errors. `head` is null where there is none.
  using Refuse = std::function<HttpResponse(const Refusal& refusal, unsigned status, const HttpRequest* head)>;
  // Does what is due at `now`, and gives the time of what is due next; max(): nothing is. Called once the first time
  // that wake_by() was given has come, sometimes before, never twice at once. Where it throws std::bad_alloc, it is
  // called again a moment later; it must not throw anything else.
  using OnTime = std::function<std::chrono::steady_clock::time_point(std::chrono::steady_clock::time_point now)>;
  struct Calls {
    Handler handler{};
    Screen screen{};
    IsProbe is_probe{};
    Refuse refuse{};
    OnTime on_time{};  // may be none
  };

  // Binds; accepts nothing yet. The error of the first address that cannot be had.
  static core::Result<std::unique_ptr<HttpServer>> open(const TransportOptions& options, Calls calls);
  // stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // "http://127.0.0.1:41234", "https://…", "unix:/run/x.sock".
  [[nodiscard]] const std::vector<std::string>& addresses() const;

  // Starts the threads, and accepts.
  [[nodiscard]] core::Status start();
  // Runs it soon, on one of the server's threads; at once and here, after stop().
  void post(std::function<void()> work);
  // On threads for what takes longer than the others may wait; at once and here, after stop().
  void post_large(std::function<void()> work);
  // Calls::on_time is called by then, unless the server is stopped before; a moment later where it has just been
  // called. It must know what is due before this is called.
  void wake_by(std::chrono::steady_clock::time_point time);

  // For connections that begin from now on.
  [[nodiscard]] core::Status reload_tls();

  // Accepts what waits to be accepted and nothing more, lets connections end after the request that is in progress, and
  // closes those without one after a moment, in which one that is on its way is still taken.
  void stop_accepting();
  // Until no connection is left; false when the time was up before.
  [[nodiscard]] bool wait_until_idle(std::chrono::steady_clock::time_point until);
  // Requests that have begun and are not answered.
  [[nodiscard]] std::size_t requests_at_work() const;
  // Closes everything and joins the threads.
  void stop();

  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace latebind::server
