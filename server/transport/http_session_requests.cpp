// How HttpSession receives a request: head, body, and what is refused before a handler sees it.
#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "core/log.h"
#include "server/transport/http_session.h"

namespace latebind::server {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A request that arrives.
struct HttpSession::Incoming {
  explicit Incoming(const Shared& shared)
      : parser(shared.options.head_bytes_max, shared.options.body_bytes_max), held(shared.held) {}

  RequestParser parser;
  HeldBytes::Share held;     // of the body
  bool is_screened = false;  // Shared::screen has been asked
  steady_clock::time_point arrived = steady_clock::now();
  std::chrono::system_clock::time_point arrived_at = std::chrono::system_clock::now();
};

Task<bool> HttpSession::receive() {
  const bool has_begun = co_await await_request();
  if (!has_begun) co_return false;
  Incoming incoming(shared_);
  RequestParser& parser = incoming.parser;
  if (!is_beyond_limit_) set_deadline(shared_.options.head_time);
  for (;;) {
    std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
    const RequestParser::Step step = parser.take(bytes);
    begin_ = end_ - bytes.size();
    if (step == RequestParser::Step::kRefused) {
      refuse(parser.fault().refusal, parser.fault().status, &parser);
      co_return false;
    }
    if (step == RequestParser::Step::kHead) {
      if (!accept_head(incoming)) co_return false;
      set_deadline(shared_.options.body_time);
      const bool is_awaited = !parser.request().header("expect").empty() && !parser.is_http_1_0();
      if (is_awaited && !has_bytes() && !parser.is_complete()) {
        const bool is_written = co_await write_continue();
        if (!is_written) co_return false;
      }
      continue;
    }
    if (!accept_body(incoming)) co_return false;
    if (step == RequestParser::Step::kDone) co_return pass_on(incoming);
    const bool has_more = co_await read_more(parser);
    if (!has_more) co_return false;
  }
}

Task<bool> HttpSession::await_request() {
  if (!is_beyond_limit_) {
    set_deadline(shared_.is_ending.load(std::memory_order_relaxed) ? kLastChance
                 : has_asked_                                      ? shared_.options.idle_time
                                                                   : shared_.options.first_time);
  }
  for (;;) {
    // Empty lines before a request are skipped.
    while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n')
      begin_ += 2;
    if (has_bytes() && (end_ - begin_ > 1 || buffer_[begin_] != '\r')) break;
    if (std::exchange(is_told_to_end_, false)) set_deadline(kLastChance);
    if (is_late_ && is_beyond_limit_) refuse_beyond_limit(nullptr);
    if (is_late_ || read_error_ || is_closed_) {
      if (!answer_) close();
      co_return false;
    }
    read_ahead();
    co_await changed_;
  }
  has_asked_ = true;
  is_at_work_.store(true, std::memory_order_relaxed);
  co_return true;
}

Task<bool> HttpSession::read_more(RequestParser& parser) {
  for (const std::size_t before = reads_; reads_ == before;) {
    if (is_late_) refuse_late(&parser);
    if (is_late_ || is_closed_) co_return false;
    if (read_error_) {
      close();
      co_return false;
    }
    read_ahead();
    co_await changed_;
  }
  co_return true;
}

bool HttpSession::accept_head(Incoming& incoming) {
  RequestParser& parser = incoming.parser;
  if (is_beyond_limit_ && (!parser.is_complete() || !shared_.is_probe(parser.request()))) {
    refuse_beyond_limit(&parser);
    return false;
  }
  return parser.announced_bytes() <= kReadBytes || may_be_large(incoming);
}

bool HttpSession::accept_body(Incoming& incoming) {
  const std::uint64_t bytes = incoming.parser.body_bytes();
  // A small body is always held, so that its client gets a proper answer.
  if (bytes <= kReadBytes) {
    incoming.held.set(bytes);
    return true;
  }
  if (!may_be_large(incoming)) return false;
  if (incoming.held.try_set(bytes)) return true;
  refuse({.kind = RefusalKind::kOverloaded,
          .message = "other requests and answers hold too many bytes: try again later",
          .param = {},
          .retry_after_s = 1},
         429, &incoming.parser);
  return false;
}

bool HttpSession::may_be_large(Incoming& incoming) {
  if (std::exchange(incoming.is_screened, true)) return true;
  auto refused = shared_.screen(incoming.parser.request());
  if (!refused) return true;
  refuse_with(*std::move(refused), &incoming.parser);
  return false;
}

bool HttpSession::pass_on(Incoming& incoming) {
  RequestParser& parser = incoming.parser;
  std::shared_ptr<Exchange> exchange;
  try {
    closes_ = !parser.keeps_alive() || is_beyond_limit_;
    is_http_1_0_ = parser.is_http_1_0();
    is_head_request_ = parser.request().method == "HEAD";
    parser.request().arrived = incoming.arrived;
    parser.request().arrived_at = incoming.arrived_at;
    exchange = std::make_shared<Exchange>(
        std::move(parser.request()),
        [weak = weak_from_this(), executor = stream_->executor()](HttpResponse response) {
          auto answer = std::make_shared<HttpResponse>(std::move(response));
          asio::post(executor, [weak, answer] {
            const auto self = weak.lock();
            if (self == nullptr) return;
            self->answer_ = std::move(*answer);
            self->changed_.set();
          });
        },
        std::move(incoming.held));
  } catch (const std::bad_alloc&) {
    refuse({.kind = RefusalKind::kOverloaded, .message = "not enough memory for the request", .param = {}}, 503,
           nullptr);
    return false;
  }
  set_deadline(milliseconds(0));
  exchange_ = exchange;
  try {
    shared_.handler(std::move(exchange));
  } catch (const std::exception& failure) {
    // The exchange is gone and has answered.
    core::log(core::LogLevel::kError, fmt::format("cannot handle a request: {}", failure.what()));
  }
  return true;
}

void HttpSession::refuse(const Refusal& refusal, unsigned status, RequestParser* parser) {
  const bool has_head = parser != nullptr && parser->has_head();
  refuse_with(shared_.refuse(refusal, status, has_head ? &parser->request() : nullptr), parser);
}

void HttpSession::refuse_with(HttpResponse response, RequestParser* parser) {
  is_head_request_ = parser != nullptr && parser->request().method == "HEAD";
  closes_ = true;
  answer_ = std::move(response);
}

void HttpSession::refuse_late(RequestParser* parser) {
  if (is_beyond_limit_) return refuse_beyond_limit(parser);
  refuse({.kind = RefusalKind::kTimeout, .message = "the request took too long to arrive", .param = {}}, 408, parser);
}

void HttpSession::refuse_beyond_limit(RequestParser* parser) {
  refuse({.kind = RefusalKind::kOverloaded, .message = "too many connections", .param = {}, .retry_after_s = 1}, 503,
         parser);
}

}  // namespace latebind::server
