// HttpSession: one connection and its requests, one after the other.
//
// Internal to the transport. Lives as long as something of it is in progress. All of it runs on the connection's
// executor, except abandon() and what is said to be for any thread.
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
  // What is the same for all sessions. Must outlive them.
  struct Shared {
    TransportOptions options{};
    HttpServer::Handler handler{};
    HttpServer::Screen screen{};
    HttpServer::IsProbe is_probe{};
    HttpServer::Refuse refuse{};
    std::atomic<bool> is_ending{false};   // answers close their connection
    std::shared_ptr<HeldBytes> held{};    // of bodies and answers
    std::unique_ptr<RefusalPace> pace{};  // null: nobody waits
    Alarm* alarm = nullptr;               // calls check_time(); null: whoever made the session does
    // The session is over.
    std::function<void(HttpSession*)> on_end{};
  };

  HttpSession(std::unique_ptr<Stream> stream, Shared& shared);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // Begins to read. Any thread.
  void start();
  // There are too many connections: one request is read, and soon; a probe is answered, to anything else it says so.
  // Any thread; instead of start().
  void start_beyond_limit();
  // Ends soon where no request is in progress, else after it. Any thread.
  void end_when_idle();
  // Ends now. Any thread.
  void abort();
  // Whether a request has begun whose answer is not written yet. Any thread.
  [[nodiscard]] bool is_at_work() const;
  // Ends when its time is up. Gives the time at which to call it again; max(): not before the alarm is told so. Any
  // thread.
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
  // False: it was refused.
  [[nodiscard]] bool check_bytes(std::string_view bytes, std::size_t used);
  void refuse_head();
  void refuse_bytes(std::string_view bytes, const boost::system::error_code& error);
  void on_head();
  // False: it was refused.
  [[nodiscard]] bool read_head();
  [[nodiscard]] bool check_head();
  void take_head();
  void dispatch();
  void write(HttpResponse response);
  void write_body();
  void on_written();
  void pause();
  void go_on();
  // Before the rest of a large body is read. False: it was refused.
  [[nodiscard]] bool may_be_large();
  // What has come of the body. False: it was refused.
  [[nodiscard]] bool hold_body();
  void turn_away();
  void refuse(const Refusal& refusal, unsigned status);
  void end_with(HttpResponse response);
  // The client sends nothing more: it may have left, or wait for its answer.
  void on_half_close();
  void probe();
  void linger();
  void go_on_lingering();
  void close() noexcept;

  const std::unique_ptr<Stream> stream_;
  Shared& shared_;

  std::atomic<Phase> phase_{Phase::kOpening};  // written on the executor alone
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is in the buffer and was not parsed
  std::size_t end_ = 0;
  HeldBytes::Share ahead_;  // of the buffer, where it is large
  bool is_reading_ = false;
  bool has_ended_ = false;      // nothing more comes
  bool closes_ = false;         // after this answer
  bool is_continuing_ = false;  // "100 Continue" is being written
  bool is_probing_ = false;     // so is it to a client that may have left; the answer comes behind it
  bool is_watched_ = false;     // for a reset
  bool knows_interim_answers_ = false;
  std::shared_ptr<HttpSession> self_;  // while it is answered: then nothing else may hold it
  bool is_head_request_ = false;
  bool says_keep_alive_ = false;
  std::chrono::steady_clock::time_point linger_end_;  // however much more comes
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
  // Any thread: of the steady clock, in its ticks; 0: none.
  std::atomic<std::chrono::steady_clock::rep> deadline_{0};
};

}  // namespace latebind::server
