// HttpServer listens and passes requests on as exchanges. It speaks HTTP/1.1 with keep-alive and pipelining over TCP,
// Unix sockets and TLS.
//
// It runs on its threads, which also call the handler. All functions are thread-safe. Memory is bounded whatever
// clients do: HeldBytes limits all large bodies and answers together, and a connection needs little besides.
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

// "127.0.0.1:8080", "[::1]:0", "unix:/run/latebind.sock", or a listening socket that the process inherited.
struct ListenAddress {
  std::string host{};      // empty: not TCP
  std::uint16_t port = 0;  // 0: any free port
  std::string path{};      // of a Unix socket
  int inherited = -1;      // the descriptor of an inherited socket
  bool inherited_is_unix = false;

  // Returns kInvalidArgument, which names the mistake.
  static core::Result<ListenAddress> parse(const std::string& text);
  // Whether only this machine can reach the address.
  [[nodiscard]] bool is_local() const;
};

struct TransportOptions {
  std::vector<ListenAddress> listen{};
  std::string tls_certificate{};  // empty: no TLS
  std::string tls_key{};
  unsigned threads = 2;
  int large_nice = 0;  // added to the niceness of the threads for longer work (thread_nice.h)
  std::size_t connections_max = 1024;
  std::size_t connections_beyond = 64;  // above that limit, for probes only
  std::size_t head_bytes_max = std::size_t{16} << 10;
  std::size_t body_bytes_max = std::size_t{32} << 20;
  std::uint64_t held_bytes_max = std::uint64_t{512} << 20;  // for bodies and answers on all connections
  std::chrono::milliseconds first_time{10'000};             // until the first request on a connection begins
  std::chrono::milliseconds idle_time{75'000};              // between two requests
  std::chrono::milliseconds head_time{10'000};              // from a request's first byte to the end of its head
  std::chrono::milliseconds body_time{60'000};              // from the end of the head to the end of the body
  std::chrono::milliseconds write_time{30'000};             // for each MiB of an answer
  std::chrono::milliseconds probe_time{2'000};              // above the limit: from accepting to the end of the head
  double refusing_processors = 1;  // the processors that paced refusals may occupy: RefusalPace
};

class HttpServer {
 public:
  // Answers the exchange, now or later.
  using Handler = std::function<void(ExchangePtr)>;
  // Returns the refusal for a request whose large body is unwanted, or std::nullopt to read it. Called when the head is
  // complete.
  using Screen = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;
  // Whether a request is answered on a connection above the limit, too. Called when the head is complete.
  using IsProbe = std::function<bool(const HttpRequest& head)>;
  // Formats the answer to anything that is not a valid request. `head` is null if the head is not complete.
  using Refuse = std::function<HttpResponse(const Refusal& refusal, unsigned status, const HttpRequest* head)>;
  // Does what is due at `now` and returns when the next thing is due, or max(). Called when the earliest time passed to
  // wake_by() has come, sometimes earlier, never concurrently. After a std::bad_alloc it is called again a moment
  // later; it must not throw anything else.
  using OnTime = std::function<std::chrono::steady_clock::time_point(std::chrono::steady_clock::time_point now)>;
  struct Calls {
    Handler handler{};
    Screen screen{};
    IsProbe is_probe{};
    Refuse refuse{};
    OnTime on_time{};  // optional
  };

  // Binds without accepting. Returns the error of the first address that cannot be bound.
  static core::Result<std::unique_ptr<HttpServer>> open(const TransportOptions& options, Calls calls);
  // Calls stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // "http://127.0.0.1:41234", "https://…", "unix:/run/x.sock".
  [[nodiscard]] const std::vector<std::string>& addresses() const;

  // Starts the threads and accepts connections.
  [[nodiscard]] core::Status start();
  // Runs the function soon on one of the server's threads. After stop(), runs it at once on the calling thread.
  void post(std::function<void()> work);
  // Like post(), on the threads for longer work.
  void post_large(std::function<void()> work);
  // Requests a call of Calls::on_time at `time` at the latest, or shortly after if it has just been called. The caller
  // must record what is due before this call. No calls follow stop().
  void wake_by(std::chrono::steady_clock::time_point time);

  // Reloads the certificate for new connections.
  [[nodiscard]] core::Status reload_tls();

  // Accepts the connections that are already waiting and no others. Connections end after their current request; idle
  // ones are closed after a moment, in which a request already sent is still accepted.
  void stop_accepting();
  // Waits until all connections are closed. Returns false if the time was up first.
  [[nodiscard]] bool wait_until_idle(std::chrono::steady_clock::time_point until);
  // The number of requests that have begun and are not answered.
  [[nodiscard]] std::size_t requests_at_work() const;
  // Closes all connections and joins the threads.
  void stop();

  [[nodiscard]] std::size_t connections() const;
  [[nodiscard]] std::uint64_t held_bytes() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  const std::unique_ptr<State> state_;
};

}  // namespace latebind::server
