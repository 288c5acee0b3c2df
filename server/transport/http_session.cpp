#include "server/transport/http_session.h"

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "core/log.h"
#include "core/platform/thread_time.h"
#include "server/transport/response_head.h"

namespace latebind::server {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// While a request is answered, the connection is read, so that a client that leaves is noticed. What arrives is kept up
// to this size; more waits in the socket.
constexpr std::size_t kAheadBytesMax = std::size_t{1} << 20;
// After an error, what the client still sends is dropped until it sends nothing for kLingerTime, or for kLingerTimeMax
// in all. Many clients read no answer before they have sent the whole body.
constexpr milliseconds kLingerTime{2000};
constexpr milliseconds kLingerTimeMax{30'000};
constexpr milliseconds kOpeningTime{10'000};
// How long after the end of the client's direction the client is probed. Most answers come earlier.
constexpr milliseconds kProbeAfter{100};
// Each piece of an answer must be written within TransportOptions::write_time.
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

// The processor time of this thread since the last call, bounded by what a refusal may have taken.
steady_clock::duration busy_for_refusal() {
  constexpr steady_clock::duration kMost = milliseconds(20);
  thread_local std::chrono::nanoseconds before{};
  const auto now = platform::thread_time();
  return std::min<steady_clock::duration>(now - std::exchange(before, now), kMost);
}

}  // namespace

HttpSession::HttpSession(std::unique_ptr<Stream> stream, Shared& shared)
    : stream_(std::move(stream)), shared_(shared), ahead_(shared.held), held_(shared.held) {}

HttpSession::~HttpSession() {
  shared_.on_end(this);
}

void HttpSession::start() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] { run(self); });
}

void HttpSession::start_beyond_limit() {
  is_beyond_limit_ = true;
  start();
}

void HttpSession::end_when_idle() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] {
    self->is_told_to_end_ = true;
    self->changed_.set();
  });
}

void HttpSession::abort() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] { self->close(); });
}

steady_clock::time_point HttpSession::check_time(steady_clock::time_point now) {
  const auto deadline = deadline_.load();
  if (deadline == 0) return steady_clock::time_point::max();
  if (now.time_since_epoch().count() < deadline) return steady_clock::time_point(steady_clock::duration(deadline));
  asio::dispatch(stream_->executor(), [self = shared_from_this(), deadline] {
    if (self->deadline_.load(std::memory_order_relaxed) != deadline) return;
    self->is_late_ = true;
    self->changed_.set();
  });
  return steady_clock::time_point::max();
}

void HttpSession::set_deadline(milliseconds time) {
  is_late_ = false;
  if (time.count() == 0) {
    deadline_.store(0, std::memory_order_relaxed);
    return;
  }
  const auto deadline = steady_clock::now() + time;
  deadline_.store(deadline.time_since_epoch().count());  // in one order with what the alarm does
  if (shared_.alarm != nullptr) shared_.alarm->ring_by(deadline);
}

DetachedTask HttpSession::run(std::shared_ptr<HttpSession> self) {
  try {
    co_await self->serve();
  } catch (const std::bad_alloc&) {
    // Without memory, the client gets no message.
  } catch (const std::exception& failure) {
    core::log(core::LogLevel::kWarning, failure.what());
  }
  self->close();
}

Task<> HttpSession::serve() {
  co_await open();
  while (!is_closed_) {
    if (!answer_) {
      const bool is_passed_on = co_await receive();
      if (is_passed_on) co_await await_answer();
    }
    if (!answer_ || is_closed_) co_return;
    const bool is_paced = answer_->is_paced && shared_.pace != nullptr;
    const auto time =
        is_paced ? shared_.pace->after(busy_for_refusal(), steady_clock::now()) : steady_clock::duration();
    co_await write_answer();
    if (is_closed_) co_return;
    // A client that was not told of the end may have sent its next request, which is answered.
    if (closes_) {
      co_await linger();
      co_return;
    }
    if (time.count() > 0) co_await pause(time);
  }
}

Task<> HttpSession::open() {
  set_deadline(is_beyond_limit_ ? shared_.options.probe_time : kOpeningTime);
  is_writing_ = true;
  stream_->open([self = shared_from_this()](const error_code& error) {
    self->is_writing_ = false;
    self->write_error_ = error;
    self->changed_.set();
  });
  while (is_writing_ && !is_closed_) {
    if (std::exchange(is_told_to_end_, false)) set_deadline(kLastChance);
    if (is_late_) co_return close();
    co_await changed_;
  }
  if (!write_error_ || is_closed_) co_return;
  if (!stream_->is_asked_without_tls()) co_return close();
  refuse({.kind = RefusalKind::kNeedsTls,
          .message = "this port speaks only TLS: use https:// instead of http://",
          .param = {}},
         400, nullptr);
}

// A client that has closed its connection looks like one that has ended its direction alone, as HTTP allows after the
// last request, until something is sent to it. So it is sent an interim answer, which clients of HTTP/1.1 skip. The
// system of a client that has left answers with a reset (docs/decisions/0118).
Task<> HttpSession::await_answer() {
  bool is_watched = false;
  while (!answer_ && !is_closed_) {
    read_ahead();
    if (read_error_ && read_error_ != asio::error::eof) co_return close();
    if (read_error_ && !is_watched) {
      is_watched = true;
      stream_->await_reset([weak = weak_from_this()](const error_code& error) {
        if (const auto self = weak.lock(); self != nullptr && !error) self->close();
      });
      if (!is_http_1_0_) set_deadline(kProbeAfter);
    }
    if (is_late_) {
      set_deadline(shared_.options.write_time);
      const bool is_written = co_await write_continue();
      if (!is_written) co_return;
      set_deadline(milliseconds(0));
      continue;
    }
    co_await changed_;
  }
}

Task<> HttpSession::write_answer() {
  HttpResponse response = *std::move(answer_);
  answer_.reset();
  closes_ =
      closes_ || response.close || (read_error_ && !has_bytes()) || shared_.is_ending.load(std::memory_order_relaxed);
  write_response_head(response,
                      closes_        ? ConnectionHeader::kClose
                      : is_http_1_0_ ? ConnectionHeader::kKeepAlive
                                     : ConnectionHeader::kNone,
                      head_);
  if (!is_head_request_) body_ = std::move(response.body);
  held_.set(body_.size());
  is_at_work_.store(true, std::memory_order_relaxed);
  for (std::size_t written = 0; written == 0 || written < body_.size();) {
    const std::size_t size = std::min(body_.size() - written, kWriteBytes);
    std::vector<asio::const_buffer> buffers;
    if (written == 0) buffers.push_back(asio::buffer(head_));
    buffers.push_back(asio::buffer(body_.data() + written, size));
    set_deadline(shared_.options.write_time);
    const bool is_written = co_await write(std::move(buffers));
    if (!is_written) co_return;
    written += size;
    if (size == 0) break;
  }
  body_ = std::string();
  held_.set(0);
  is_at_work_.store(false, std::memory_order_relaxed);
}

Task<bool> HttpSession::write_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  return write({asio::buffer(kContinue.data(), kContinue.size())});
}

Task<bool> HttpSession::write(std::vector<asio::const_buffer> buffers) {
  is_writing_ = true;
  stream_->write(std::move(buffers), [self = shared_from_this()](const error_code& error, std::size_t) {
    self->is_writing_ = false;
    self->write_error_ = error;
    self->changed_.set();
  });
  while (is_writing_ && !is_closed_) {
    if (is_late_) {
      close();
      break;
    }
    read_ahead();
    co_await changed_;
  }
  if (write_error_) close();
  co_return !is_closed_;
}

Task<> HttpSession::pause(RefusalPace::Clock::duration time) {
  set_deadline(milliseconds(0));
  if (pause_timer_ == nullptr) pause_timer_ = std::make_unique<asio::steady_timer>(stream_->executor());
  is_pausing_ = true;
  pause_timer_->expires_after(time);
  pause_timer_->async_wait([self = shared_from_this()](const error_code& error) {
    if (error) return;
    self->is_pausing_ = false;
    self->changed_.set();
  });
  while (is_pausing_ && !is_closed_ && !std::exchange(is_told_to_end_, false)) {
    read_ahead();
    if (read_error_ && (read_error_ != asio::error::eof || !has_bytes())) close();
    if (!is_closed_) co_await changed_;
  }
  pause_timer_->cancel();
}

// Closing while bytes of the client are unread would make its system drop the answer: it would report a reset instead.
Task<> HttpSession::linger() {
  const auto end = steady_clock::now() + (is_beyond_limit_ ? kLingerTime : kLingerTimeMax);
  is_writing_ = true;
  stream_->end_writing([self = shared_from_this()](const error_code&) {
    self->is_writing_ = false;
    self->changed_.set();
  });
  for (std::size_t seen = reads_ + 1; !is_late_ && !is_closed_ && (is_writing_ || !read_error_);) {
    if (std::exchange(seen, reads_) != reads_) {
      const auto left = std::chrono::duration_cast<milliseconds>(end - steady_clock::now());
      set_deadline(std::clamp(left, milliseconds(1), kLingerTime));
    }
    if (!is_reading_) begin_ = end_ = 0;
    if (!is_writing_) read_ahead();
    co_await changed_;
  }
}

void HttpSession::read_ahead() {
  if (is_reading_ || read_error_ || is_closed_ || !make_room()) return;
  is_reading_ = true;
  stream_->read_some(std::span(buffer_).subspan(end_),
                     [self = shared_from_this()](const error_code& error, std::size_t count) {
                       self->is_reading_ = false;
                       if (error) {
                         self->read_error_ = error;
                       } else {
                         self->end_ += count;
                         ++self->reads_;
                       }
                       self->changed_.set();
                     });
}

bool HttpSession::make_room() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == 0 && buffer_.size() > kReadBytes) {
    buffer_.resize(kReadBytes);
    buffer_.shrink_to_fit();
    ahead_.set(0);
  }
  if (end_ < buffer_.size()) return true;
  const std::size_t size = std::max(2 * end_, kReadBytes);
  // The parser refuses heads that are too long, and must see so much of them.
  const bool is_for_head = size <= shared_.options.head_bytes_max + 2 * kReadBytes;
  if (!is_for_head && (size > kAheadBytesMax || !ahead_.try_set(size))) return false;
  buffer_.resize(size);
  return true;
}

void HttpSession::close() noexcept {
  if (std::exchange(is_closed_, true)) return;
  deadline_.store(0, std::memory_order_relaxed);
  is_at_work_.store(false, std::memory_order_relaxed);
  if (const auto exchange = exchange_.lock()) exchange->gone().request();
  stream_->close();
  if (pause_timer_ != nullptr) pause_timer_->cancel();
  changed_.set();
}

}  // namespace latebind::server
