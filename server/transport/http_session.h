// HttpSession is one connection with its requests, one after the other.
//
// Internal to the transport. It lives as long as an operation on it is pending. Everything runs on the connection's
// executor, except functions marked as thread-safe.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/held_bytes.h"
#include "server/transport/alarm.h"
#include "server/transport/http_server.h"
#include "server/transport/refusal_pace.h"
#include "server/transport/stream.h"

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

  // Begins to read. Thread-safe.
  void start();
  // Replaces start() when there are too many connections: reads one request within a short time, answers it if it is a
  // probe, and otherwise refuses it. Thread-safe.
  void start_beyond_limit();
  // Ends soon if no request is in progress, otherwise after it. Thread-safe.
  void end_when_idle();
  // Ends now. Thread-safe.
  void abort();
  // Whether a request has begun whose answer is not written yet. Thread-safe.
  [[nodiscard]] bool is_at_work() const;
  // Ends the session if its time is up. Returns the time of the next call, or max() to wait until the alarm is set
  // again. Thread-safe.
  std::chrono::steady_clock::time_point check_time(std::chrono::steady_clock::time_point now);

 private:
  enum class Phase { kOpening, kIdle, kHead, kBody, kAnswering, kWriting, kPausing, kLingering, kClosed };
  class Parser;

  void open();
  void enter(Phase phase, std::chrono::milliseconds time);
  void wait_for_request();
  void read();
  void on_read(const boost::system::error_code& error, std::size_t count);
  void parse();
  // Returns false after a refusal.
  [[nodiscard]] bool check_bytes(std::string_view bytes, std::size_t used);
  void refuse_head();
  void refuse_bytes(std::string_view bytes, const boost::system::error_code& error);
  void on_head();
  // Returns false after a refusal.
  [[nodiscard]] bool read_head();
  [[nodiscard]] bool check_head();
  void take_head();
  void dispatch();
  void write(HttpResponse response);
  void write_body();
  void on_written();
  void pause();
  void go_on();
  // Called before the rest of a large body is read. Returns false after a refusal.
  [[nodiscard]] bool may_be_large();
  // Accounts for the part of the body that has arrived. Returns false after a refusal.
  [[nodiscard]] bool hold_body();
  void turn_away();
  void refuse(const Refusal& refusal, unsigned status);
  void end_with(HttpResponse response);
  // Called when the client sends nothing more: it may have left, or be waiting for its answer.
  void on_half_close();
  void probe();
  void linger();
  void go_on_lingering();
  void close() noexcept;

  const std::unique_ptr<Stream> stream_;
  Shared& shared_;

  std::atomic<Phase> phase_{Phase::kOpening};  // written only on the executor
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the unparsed bytes in the buffer
  std::size_t end_ = 0;
  HeldBytes::Share ahead_;  // of the buffer if it is large
  bool is_reading_ = false;
  bool has_ended_ = false;      // the client sends nothing more
  bool closes_ = false;         // after this answer
  bool is_continuing_ = false;  // "100 Continue" is being written
  bool is_probing_ = false;     // so is it to a client that may have left; the answer follows it
  bool is_watched_ = false;     // for a reset
  bool knows_interim_answers_ = false;
  std::shared_ptr<HttpSession> self_;  // set until the request is answered, when nothing else may hold the session
  bool is_head_request_ = false;
  bool says_keep_alive_ = false;
  std::chrono::steady_clock::time_point linger_end_;  // regardless of how much arrives
  std::unique_ptr<Parser> parser_;
  std::chrono::steady_clock::time_point first_byte_;
  std::chrono::system_clock::time_point first_byte_at_;
  std::weak_ptr<Exchange> exchange_;
  std::string head_;  // of the answer
  std::string body_;
  std::size_t written_ = 0;               // of body_
  HeldBytes::Share held_;                 // of body_
  RefusalPace::Clock::duration pause_{};  // after the answer
  std::unique_ptr<boost::asio::steady_timer> pause_timer_;
  bool has_asked_ = false;  // a request has begun
  bool is_beyond_limit_ = false;
  // Thread-safe. In ticks of the steady clock; 0: no deadline.
  std::atomic<std::chrono::steady_clock::rep> deadline_{0};
};

}  // namespace latebind::server
