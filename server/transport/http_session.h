// HttpSession is one connection with its requests, one after the other.
//
// Internal to the transport. A coroutine (run()) serves the connection from top to bottom and keeps the session alive
// until its end. Callbacks of the stream, answers, and times only write down what has happened and wake the coroutine.
// Everything runs on the connection's executor, except the functions that any thread may call.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/held_bytes.h"
#include "server/transport/alarm.h"
#include "server/transport/http_server.h"
#include "server/transport/refusal_pace.h"
#include "server/transport/request_parser.h"
#include "server/transport/stream.h"
#include "server/transport/task.h"

namespace latebind::server {

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  // Shared by all sessions, which it must outlive.
  struct Shared {
    TransportOptions options{};
    HttpServer::Handler handler{};
    HttpServer::Screen screen{};
    HttpServer::IsProbe is_probe{};
    HttpServer::Refuse refuse{};
    std::atomic<bool> is_ending{false};   // connections close after their answers
    std::shared_ptr<HeldBytes> held{};    // for bodies and answers
    std::unique_ptr<RefusalPace> pace{};  // null: refusals are not paced
    Alarm* alarm = nullptr;               // calls check_time(); null: the creator does
    // Called when the session is over.
    std::function<void(HttpSession*)> on_end{};
  };

  HttpSession(std::unique_ptr<Stream> stream, Shared& shared);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // Any thread may call the following.

  // Begins to serve the connection.
  void start();
  // Instead of start(), for a connection above the limit: it has little time for one request. A probe is answered, and
  // every other request is refused.
  void start_beyond_limit();
  // Ends the connection soon if it has no request in progress, and otherwise after that request.
  void end_when_idle();
  // Ends the connection now.
  void abort();
  // Whether a request has begun whose answer is not written yet.
  [[nodiscard]] bool is_at_work() const { return is_at_work_.load(std::memory_order_relaxed); }
  // Ends what takes too long at `now`. Returns when to call it again; max(): once the alarm has been given a time.
  std::chrono::steady_clock::time_point check_time(std::chrono::steady_clock::time_point now);

 private:
  struct Incoming;

  // The size of the buffer of a connection that sends little.
  static constexpr std::size_t kReadBytes = std::size_t{16} << 10;
  // When the server ends, a connection that seems idle may still have a request on its way.
  static constexpr std::chrono::milliseconds kLastChance{500};

  static DetachedTask run(std::shared_ptr<HttpSession> self);
  Task<> serve();
  // The TLS handshake. Afterwards the connection is open or closed, or answer_ holds a refusal.
  Task<> open();
  // Reads a request and passes it to the handler. Returns false if answer_ holds a refusal or the connection is closed.
  Task<bool> receive();
  // Returns true once a request begins.
  Task<bool> await_request();
  // Waits for more bytes of a request that has begun.
  Task<bool> read_more(RequestParser& parser);
  // Writes the interim answer "100 Continue". Returns false if the connection is closed.
  Task<bool> write_continue();
  // Waits until answer_ is set or the client has left.
  Task<> await_answer();
  Task<> write_answer();
  // Returns false if the connection is closed.
  Task<bool> write(std::vector<boost::asio::const_buffer> buffers);
  // Delays the next request, even if its bytes are here.
  Task<> pause(RefusalPace::Clock::duration time);
  // Ends the direction of the answers, and drops what the client still sends until it ends its own.
  Task<> linger();

  // These return false after refusing the request.
  [[nodiscard]] bool accept_head(Incoming& incoming);
  [[nodiscard]] bool accept_body(Incoming& incoming);
  [[nodiscard]] bool may_be_large(Incoming& incoming);
  [[nodiscard]] bool pass_on(Incoming& incoming);
  // Sets answer_, after which the connection ends. `parser` is that of the request, or null.
  void refuse(const Refusal& refusal, unsigned status, RequestParser* parser);
  void refuse_with(HttpResponse response, RequestParser* parser);
  // For a request that is too late.
  void refuse_late(RequestParser* parser);
  void refuse_beyond_limit(RequestParser* parser);

  // Begins to read if no read is in progress, and if what was read before leaves room.
  void read_ahead();
  [[nodiscard]] bool make_room();
  [[nodiscard]] bool has_bytes() const { return begin_ < end_; }
  // From now; 0: none.
  void set_deadline(std::chrono::milliseconds time);
  void close() noexcept;

  const std::unique_ptr<Stream> stream_;
  Shared& shared_;

  // What run() waits for: something below has changed.
  Signal changed_;
  std::optional<HttpResponse> answer_{};
  std::size_t reads_ = 0;  // successful reads
  bool is_reading_ = false;
  boost::system::error_code read_error_{};  // nothing is read after it; eof: the client may still want its answer
  bool is_writing_ = false;
  boost::system::error_code write_error_{};
  bool is_pausing_ = false;
  bool is_told_to_end_ = false;
  bool is_late_ = false;  // the deadline has passed
  bool is_closed_ = false;

  // What was read and not parsed yet: buffer_[begin_, end_).
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  HeldBytes::Share ahead_;  // of the buffer, if it is large

  // What is being written. It must outlive the write, which may end after run() does.
  std::string head_;
  std::string body_;
  HeldBytes::Share held_;  // of body_

  std::weak_ptr<Exchange> exchange_;  // of the latest request
  bool is_head_request_ = false;
  bool is_http_1_0_ = false;
  bool closes_ = false;  // after the next answer
  bool is_beyond_limit_ = false;
  bool has_asked_ = false;  // a request has begun on this connection
  std::unique_ptr<boost::asio::steady_timer> pause_timer_;

  // Thread-safe.
  std::atomic<bool> is_at_work_{false};
  std::atomic<std::chrono::steady_clock::rep> deadline_{0};  // in ticks of the steady clock; 0: none
};

}  // namespace latebind::server
