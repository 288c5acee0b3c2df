#include "server/transport/http_session.h"

#include <algorithm>
#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "core/platform/thread_time.h"
#include "core/text/ascii.h"
#include "core/text/format_to.h"
#include "core/text/utf8.h"
#include "server/transport/target.h"

namespace latebind::server {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// The size of a read.
constexpr std::size_t kReadBytes = std::size_t{16} << 10;
// While a request is answered, reading continues up to this size, to notice when the client leaves. Further bytes wait
// in the socket.
constexpr std::size_t kAheadBytesMax = std::size_t{1} << 20;
// After an error, the rest of the request is read and dropped, because many clients read no answer before they have
// sent the whole body. This ends after a pause of kLingerTime, or after kLingerTimeMax in all.
constexpr milliseconds kLingerTime{2000};
constexpr milliseconds kLingerTimeMax{30'000};
constexpr milliseconds kOpeningTime{10'000};
// When the server ends, an idle connection stays open this long for a request that is already on its way.
constexpr milliseconds kLastChance{500};
// The time from the client's half-close to the probe. Most answers are sent before.
constexpr milliseconds kProbeAfter{100};
constexpr std::ptrdiff_t kHeadersMax = 128;
// The size of the pieces in which an answer is written.
constexpr std::size_t kWriteBytes = std::size_t{1} << 20;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view view_of(boost::string_view text) {
  return {text.data(), text.size()};
}

// Matches "GET / HTTP/2.0", an unsupported version, which Beast reports like a malformed line.
bool is_of_other_version(std::string_view bytes) {
  constexpr std::string_view kName = " HTTP/";
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  if (line.size() < kName.size() + 3 || std::ranges::count(line, ' ') != 2) return false;
  const std::string_view version = line.substr(line.size() - kName.size() - 3);
  return version.starts_with(kName) && core::is_ascii_digit(version[6]) && version[7] == '.' &&
         core::is_ascii_digit(version[8]) && version.substr(6) != "1.1" && version.substr(6) != "1.0";
}

// Finds a header continued on the next line, which proxies interpret differently.
bool has_folded_line(std::string_view bytes) {
  for (std::size_t at = bytes.find("\r\n"); at != std::string_view::npos; at = bytes.find("\r\n", at + 2)) {
    if (at + 2 < bytes.size() && (bytes[at + 2] == ' ' || bytes[at + 2] == '\t')) return true;
  }
  return false;
}

// The time in HTTP's format ("Sun, 06 Nov 1994 08:49:37 GMT"), formatted once a second per thread.
std::string_view date_now() {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  thread_local std::chrono::sys_seconds second{};
  thread_local std::string text;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (now != second) {
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(now - day);
    text = fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
                       time.seconds().count());
    second = now;
  }
  return text;
}

// The processor time of this thread since the last call, limited to what a refusal may have taken.
steady_clock::duration busy_for_refusal() {
  constexpr steady_clock::duration kMost = milliseconds(20);
  thread_local std::chrono::nanoseconds before{};
  const auto now = platform::thread_time();
  return std::min<steady_clock::duration>(now - std::exchange(before, now), kMost);
}

}  // namespace

// Beast's parser and the request so far. The headers are taken when the head is complete, because Beast adds trailers
// to them.
class HttpSession::Parser {
 public:
  Parser(const TransportOptions& options, const std::shared_ptr<HeldBytes>& bytes) : held(bytes) {
    parser.header_limit(static_cast<std::uint32_t>(options.head_bytes_max));
    parser.body_limit(options.body_bytes_max);
  }
  http::request_parser<http::string_body> parser;
  std::size_t head_bytes = 0;  // the bytes that the parser has consumed
  bool has_head = false;
  HttpRequest request;  // without its body; valid once has_head
  bool keeps_alive = false;
  bool is_screened = false;
  HeldBytes::Share held;  // of the body
};

HttpSession::HttpSession(std::unique_ptr<Stream> stream, Shared& shared)
    : stream_(std::move(stream)), shared_(shared), ahead_(shared.held), held_(shared.held) {}

HttpSession::~HttpSession() {
  shared_.on_end(this);
}

void HttpSession::enter(Phase phase, milliseconds time) {
  phase_ = phase;
  if (time.count() == 0) {
    deadline_.store(0, std::memory_order_relaxed);
    return;
  }
  const auto deadline = steady_clock::now() + time;
  deadline_.store(deadline.time_since_epoch().count());  // sequentially consistent with the alarm's operations
  if (shared_.alarm != nullptr) shared_.alarm->ring_by(deadline);
}

void HttpSession::start() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] {
    self->enter(Phase::kOpening, kOpeningTime);
    self->open();
  });
}

void HttpSession::start_beyond_limit() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] {
    self->is_beyond_limit_ = true;
    self->enter(Phase::kOpening, self->shared_.options.probe_time);
    self->open();
  });
}

void HttpSession::open() {
  stream_->open([self = shared_from_this()](const error_code& error) {
    if ((error && !self->stream_->is_asked_without_tls()) || self->phase_ == Phase::kClosed) return self->close();
    self->buffer_.resize(kReadBytes);
    if (error) {
      return self->refuse({.kind = RefusalKind::kNeedsTls,
                           .message = "this port speaks TLS alone: ask https:// instead of http://",
                           .param = {}},
                          400);
    }
    self->wait_for_request();
    self->read();
  });
}

void HttpSession::end_when_idle() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] {
    if (self->phase_ == Phase::kIdle || self->phase_ == Phase::kOpening) self->enter(self->phase_, kLastChance);
    if (self->phase_ == Phase::kPausing) self->pause_timer_->cancel();
  });
}

void HttpSession::abort() {
  asio::dispatch(stream_->executor(), [self = shared_from_this()] { self->close(); });
}

bool HttpSession::is_at_work() const {
  const Phase phase = phase_;
  return phase == Phase::kHead || phase == Phase::kBody || phase == Phase::kAnswering || phase == Phase::kWriting;
}

steady_clock::time_point HttpSession::check_time(steady_clock::time_point now) {
  const auto deadline = deadline_.load();
  if (deadline == 0) return steady_clock::time_point::max();
  if (now.time_since_epoch().count() < deadline) return steady_clock::time_point(steady_clock::duration(deadline));
  asio::dispatch(stream_->executor(), [self = shared_from_this(), deadline] {
    if (self->deadline_.load(std::memory_order_relaxed) != deadline) return;
    if (self->phase_ == Phase::kAnswering) return self->probe();
    // A client that sends its request too slowly gets an answer; one that sends or reads nothing does not.
    const bool has_begun = self->phase_ == Phase::kHead || self->phase_ == Phase::kBody;
    if (self->is_beyond_limit_ && (has_begun || self->phase_ == Phase::kIdle)) {
      self->turn_away();
    } else if (has_begun && !self->is_continuing_) {
      self->refuse({.kind = RefusalKind::kTimeout, .message = "the request took too long to arrive", .param = {}}, 408);
    } else {
      self->close();
    }
  });
  return steady_clock::time_point::max();
}

void HttpSession::wait_for_request() {
  if (is_beyond_limit_) {
    phase_ = Phase::kIdle;  // with the remaining time
    return;
  }
  enter(Phase::kIdle, shared_.is_ending.load(std::memory_order_relaxed) ? kLastChance
                      : has_asked_                                      ? shared_.options.idle_time
                                                                        : shared_.options.first_time);
}

void HttpSession::read() {
  if (is_reading_ || phase_ == Phase::kClosed) return;
  if (has_ended_) return on_half_close();
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
  if (end_ == buffer_.size()) {
    std::size_t size = end_ + kReadBytes;  // parse() refuses a head that is too long
    if (phase_ == Phase::kAnswering || phase_ == Phase::kWriting || phase_ == Phase::kPausing) {
      size = 2 * end_;
      if (size > kAheadBytesMax || !ahead_.try_set(size)) return;
    }
    buffer_.resize(size);
  }
  is_reading_ = true;
  stream_->read_some(std::span(buffer_).subspan(end_),
                     [self = shared_from_this()](const error_code& error, std::size_t count) {
                       self->is_reading_ = false;
                       self->on_read(error, count);
                     });
}

void HttpSession::on_read(const error_code& error, std::size_t count) {
  if (phase_ == Phase::kClosed) return;
  if (error) {
    has_ended_ = true;
    if (phase_ == Phase::kWriting) return;  // the answer may still arrive; otherwise the write fails
    return error == asio::error::eof ? on_half_close() : close();
  }
  end_ += count;
  switch (phase_) {
    case Phase::kLingering:
      begin_ = end_ = 0;
      go_on_lingering();
      return read();
    case Phase::kAnswering:
    case Phase::kWriting:
    case Phase::kPausing:
      return read();  // the next request, or the end
    default:
      return parse();
  }
}

void HttpSession::parse() {
  if (phase_ == Phase::kIdle) {
    // Empty lines before a request are skipped.
    while (end_ - begin_ >= 2 && buffer_[begin_] == '\r' && buffer_[begin_ + 1] == '\n')
      begin_ += 2;
    if (begin_ == end_ || (end_ - begin_ == 1 && buffer_[begin_] == '\r')) return read();
    first_byte_ = steady_clock::now();
    first_byte_at_ = std::chrono::system_clock::now();
    try {
      parser_ = std::make_unique<Parser>(shared_.options, shared_.held);
    } catch (const std::bad_alloc&) {
      return close();
    }
    has_asked_ = true;
    if (is_beyond_limit_) {
      phase_ = Phase::kHead;
    } else {
      enter(Phase::kHead, shared_.options.head_time);
    }
  }
  auto& parser = parser_->parser;
  // Once for the head and once for the body, because the parser stops between them.
  while (phase_ == Phase::kHead || phase_ == Phase::kBody) {
    const std::string_view bytes(buffer_.data() + begin_, end_ - begin_);
    error_code error;
    std::size_t used = 0;
    try {
      used = parser.put(asio::const_buffer(bytes.data(), bytes.size()), error);
    } catch (const std::bad_alloc&) {
      return refuse({.kind = RefusalKind::kOverloaded, .message = "no memory left for the request", .param = {}}, 503);
    }
    begin_ += used;
    if (phase_ == Phase::kHead) parser_->head_bytes += used;
    if (error && error != http::error::need_more) return refuse_bytes(bytes, error);
    if (phase_ == Phase::kBody && !hold_body()) return;
    if (!check_bytes(bytes, used)) return;
    if (error) return read();
    if (phase_ == Phase::kHead && parser.is_header_done()) {
      on_head();
      if (is_continuing_ || phase_ != Phase::kBody) return;
    } else if (parser.is_done()) {
      return dispatch();
    }
    if (begin_ == end_) return read();
  }
}

// Checks what the parser does not: it only counts consumed bytes, and accepts folded lines.
bool HttpSession::check_bytes(std::string_view bytes, std::size_t used) {
  const std::size_t waiting = bytes.size() - used;
  if (phase_ == Phase::kBody) {
    if (waiting <= shared_.options.head_bytes_max || parser_->parser.is_done()) return true;
    refuse({.kind = RefusalKind::kBadRequest, .message = "too much stands around the body's chunks", .param = {}}, 400);
    return false;
  }
  const bool is_done = parser_->parser.is_header_done();
  if (parser_->head_bytes + (is_done ? 0 : waiting) > shared_.options.head_bytes_max) {
    refuse_head();
    return false;
  }
  if (has_folded_line(bytes.substr(0, used))) {
    refuse({.kind = RefusalKind::kBadRequest, .message = "a header must be one line", .param = {}}, 400);
    return false;
  }
  return true;
}

void HttpSession::refuse_head() {
  const bool is_target = parser_->head_bytes == 0;  // the request line is incomplete
  refuse({.kind = RefusalKind::kTooLarge,
          .message = fmt::format("the head has more than {} bytes", shared_.options.head_bytes_max),
          .param = {}},
         is_target ? 414 : 431);
}

void HttpSession::refuse_bytes(std::string_view bytes, const error_code& error) {
  if (error == http::error::body_limit) {
    // The size is in the head, which is then complete.
    if (phase_ == Phase::kHead && !read_head()) return;
    return refuse({.kind = RefusalKind::kTooLarge,
                   .message = fmt::format("the body has more than {} bytes", shared_.options.body_bytes_max),
                   .param = {}},
                  413);
  }
  if (phase_ == Phase::kHead && (error == http::error::header_limit || error == http::error::buffer_overflow)) {
    return refuse_head();
  }
  refuse({.kind = RefusalKind::kBadRequest,
          .message = fmt::format("this is no HTTP request: {}", error.message()),
          .param = {}},
         error == http::error::bad_version && is_of_other_version(bytes) ? 505 : 400);
}

// Checks the complete head before waiting for the body.
void HttpSession::on_head() {
  if (!read_head()) return;
  if (is_beyond_limit_ && (!parser_->parser.is_done() || !shared_.is_probe(parser_->request))) return turn_away();
  if (parser_->parser.content_length().value_or(0) > kReadBytes && !may_be_large()) return;
  enter(Phase::kBody, shared_.options.body_time);
  auto& parser = parser_->parser;
  parser.eager(true);
  if (parser.get().version() == 11 && !parser_->request.header("expect").empty() && begin_ == end_ &&
      !parser.is_done()) {
    is_continuing_ = true;
    return stream_->write({asio::buffer(kContinue.data(), kContinue.size())},
                          [self = shared_from_this()](const error_code& error, std::size_t) {
                            self->is_continuing_ = false;
                            if (error) return self->close();
                            self->read();
                          });
  }
  if (parser.is_done()) dispatch();
}

bool HttpSession::read_head() {
  try {
    if (!check_head()) return false;
    take_head();
    return true;
  } catch (const std::bad_alloc&) {
    refuse({.kind = RefusalKind::kOverloaded, .message = "no memory left for the request", .param = {}}, 503);
    return false;
  }
}

bool HttpSession::check_head() {
  const auto& head = parser_->parser.get();
  const auto bad = [this](unsigned status, RefusalKind kind, std::string message) {
    refuse({.kind = kind, .message = std::move(message), .param = {}}, status);
    return false;
  };
  const auto count = [&head](http::field field) {
    const auto range = head.equal_range(field);
    return std::distance(range.first, range.second);
  };
  if (head.version() != 10 && head.version() != 11) {
    return bad(505, RefusalKind::kBadRequest, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  }
  if (std::distance(head.begin(), head.end()) > kHeadersMax) {
    return bad(431, RefusalKind::kTooLarge, fmt::format("there are more than {} headers", kHeadersMax));
  }
  if (count(http::field::host) > 1 || (head.version() == 11 && count(http::field::host) == 0)) {
    return bad(400, RefusalKind::kBadRequest, "there must be one Host header");
  }
  // Ambiguity about the end of a body allows request smuggling through proxies.
  if (count(http::field::content_length) > 1) {
    return bad(400, RefusalKind::kBadRequest, "there is more than one Content-Length");
  }
  const std::string_view length = view_of(head[http::field::content_length]);
  if (length.find_first_not_of("0123456789") != std::string_view::npos) {
    return bad(400, RefusalKind::kBadRequest, "Content-Length must be a number");
  }
  if (count(http::field::transfer_encoding) > 0) {
    if (count(http::field::transfer_encoding) > 1 || count(http::field::content_length) > 0 || head.version() == 10) {
      return bad(400, RefusalKind::kBadRequest, "Transfer-Encoding contradicts another header");
    }
    if (core::ascii_lowered(view_of(head[http::field::transfer_encoding])) != "chunked") {
      return bad(501, RefusalKind::kBadRequest, "no Transfer-Encoding but chunked is understood");
    }
  }
  const auto codings = head.equal_range(http::field::content_encoding);
  for (auto coding = codings.first; coding != codings.second; ++coding) {
    const std::string name = core::ascii_lowered(view_of(coding->value()));
    if (!name.empty() && name != "identity") {
      return bad(415, RefusalKind::kMediaType, "a body must not be compressed");
    }
  }
  const std::string expected = core::ascii_lowered(view_of(head[http::field::expect]));
  if (!expected.empty() && expected != "100-continue") {
    return bad(417, RefusalKind::kBadRequest, "no Expect but 100-continue is understood");
  }
  if (!Target::parse(view_of(head.target()))) {
    return bad(400, RefusalKind::kBadRequest,
               "the path is not one: it must begin with / and be UTF-8 when it is decoded");
  }
  return true;
}

void HttpSession::take_head() {
  const auto& head = parser_->parser.get();
  HttpRequest& request = parser_->request;
  request.method = std::string(view_of(head.method_string()));
  auto target = *Target::parse(view_of(head.target()));
  request.path = std::move(target.path);
  request.segments = std::move(target.segments);
  request.query = std::move(target.query);
  for (const auto& field : head) {
    request.headers.emplace_back(core::ascii_lowered(view_of(field.name_string())),
                                 std::string(view_of(field.value())));
  }
  request.arrived = first_byte_;
  request.arrived_at = first_byte_at_;
  parser_->keeps_alive = head.keep_alive();
  parser_->has_head = true;
}

void HttpSession::dispatch() {
  std::shared_ptr<Exchange> exchange;
  try {
    HttpRequest request = std::move(parser_->request);
    HeldBytes::Share held = std::move(parser_->held);
    request.body = std::move(parser_->parser.get().body());
    closes_ = !parser_->keeps_alive || is_beyond_limit_;
    says_keep_alive_ = parser_->keeps_alive && parser_->parser.get().version() == 10;
    knows_interim_answers_ = parser_->parser.get().version() == 11;
    parser_.reset();
    is_head_request_ = request.method == "HEAD";
    exchange = std::make_shared<Exchange>(
        std::move(request),
        [weak = weak_from_this(), executor = stream_->executor()](HttpResponse response) {
          auto answer = std::make_shared<HttpResponse>(std::move(response));
          asio::post(executor, [weak, answer] {
            if (const auto self = weak.lock()) self->write(std::move(*answer));
          });
        },
        std::move(held));
  } catch (const std::bad_alloc&) {
    return refuse({.kind = RefusalKind::kOverloaded, .message = "no memory left for the request", .param = {}}, 503);
  }
  enter(Phase::kAnswering, milliseconds(0));
  exchange_ = exchange;
  self_ = shared_from_this();  // until it is answered
  read();                      // notices when the client leaves
  shared_.handler(std::move(exchange));
}

void HttpSession::write(HttpResponse response) {
  const auto self = std::exchange(self_, nullptr);
  if (phase_ == Phase::kClosed) return;
  try {
    closes_ = closes_ || response.close || (has_ended_ && begin_ == end_) ||
              shared_.is_ending.load(std::memory_order_relaxed);
    head_.clear();
    auto out = std::back_inserter(head_);
    fmt::format_to(out, "HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status, reason_of(response.status), date_now());
    if (response.status != 204 && response.status != 304) {
      fmt::format_to(out, "Content-Length: {}\r\n", response.body.size());
      if (!response.content_type.empty()) fmt::format_to(out, "Content-Type: {}\r\n", response.content_type);
    }
    for (const auto& [name, value] : response.headers)
      fmt::format_to(out, "{}: {}\r\n", name, value);
    fmt::format_to(out, "{}\r\n",
                   closes_ ? "Connection: close\r\n"
                   : says_keep_alive_
                       ? "Connection: keep-alive\r\n"  // unless it is told, HTTP/1.0 takes it for the end
                       : "");
    body_ = is_head_request_ ? std::string() : std::move(response.body);
  } catch (const std::bad_alloc&) {
    return close();
  }
  pause_ = {};
  if (response.is_paced && shared_.pace != nullptr) {
    pause_ = shared_.pace->after(busy_for_refusal(), steady_clock::now());
  }
  held_.set(body_.size());
  written_ = 0;
  write_body();
}

// Writes the head with the first piece, and then the other pieces. The client must accept each in time.
void HttpSession::write_body() {
  const std::size_t size = std::min(body_.size() - written_, kWriteBytes);
  const bool is_first = written_ == 0;
  enter(Phase::kWriting, shared_.options.write_time);
  if (is_probing_) return;  // continues after the probe
  const auto piece = asio::buffer(body_.data() + written_, size);
  written_ += size;
  stream_->write({is_first ? asio::const_buffer(asio::buffer(head_)) : asio::const_buffer(), piece},
                 [self = shared_from_this()](const error_code& error, std::size_t) {
                   if (error) return self->close();
                   if (self->phase_ == Phase::kWriting && self->written_ < self->body_.size())
                     return self->write_body();
                   self->on_written();
                 });
}

bool HttpSession::may_be_large() {
  if (parser_->is_screened) return true;
  parser_->is_screened = true;
  std::optional<HttpResponse> refused;
  try {
    refused = shared_.screen(parser_->request);
  } catch (const std::bad_alloc&) {
    close();
    return false;
  }
  if (!refused) return true;
  end_with(std::move(*refused));
  return false;
}

bool HttpSession::hold_body() {
  const std::uint64_t bytes = parser_->parser.get().body().size();
  // A small body is always held, so that its client gets a proper answer.
  if (bytes <= kReadBytes) {
    parser_->held.set(bytes);
    return true;
  }
  if (!may_be_large()) return false;
  if (parser_->held.try_set(bytes)) return true;
  refuse({.kind = RefusalKind::kOverloaded,
          .message = "too many bytes of other requests and answers are held",
          .param = {},
          .retry_after_s = 1},
         429);
  return false;
}

void HttpSession::on_written() {
  if (phase_ != Phase::kWriting) return;
  body_ = std::string();  // releases the memory of a large body
  held_.set(0);
  // Lingers only if the answer announced the close. Otherwise the client may have sent its next request, which is
  // answered.
  if (closes_) return linger();
  if (pause_.count() > 0) return pause();
  go_on();
}

// Delays the next request, even if it has already arrived.
void HttpSession::pause() {
  enter(Phase::kPausing, milliseconds(0));
  if (pause_timer_ == nullptr) pause_timer_ = std::make_unique<asio::steady_timer>(stream_->executor());
  pause_timer_->expires_after(pause_);
  pause_timer_->async_wait([self = shared_from_this()](const error_code&) {
    if (self->phase_ == Phase::kPausing) self->go_on();
  });
}

void HttpSession::go_on() {
  wait_for_request();
  // Parses what arrived in the meantime; a pending read continues afterwards.
  if (begin_ < end_) return parse();
  read();
}

void HttpSession::turn_away() {
  refuse({.kind = RefusalKind::kOverloaded, .message = "too many connections", .param = {}, .retry_after_s = 1}, 503);
}

// Answers a request that cannot be handled, and ends the connection.
void HttpSession::refuse(const Refusal& refusal, unsigned status) {
  if (phase_ == Phase::kClosed) return;
  try {
    const bool has_head = parser_ != nullptr && parser_->has_head;
    end_with(shared_.refuse(refusal, status, has_head ? &parser_->request : nullptr));
  } catch (const std::bad_alloc&) {
    close();
  }
}

void HttpSession::end_with(HttpResponse response) {
  is_head_request_ = parser_ != nullptr && parser_->request.method == "HEAD";
  parser_.reset();
  closes_ = true;
  response.close = true;
  write(std::move(response));
}

// Complete requests are still answered. A client that closed the connection and one that closed only its direction,
// which HTTP allows after the last request, look alike until something is sent (docs/decisions/0118).
void HttpSession::on_half_close() {
  if (phase_ == Phase::kWriting || (phase_ == Phase::kPausing && begin_ < end_)) return;
  if (phase_ != Phase::kAnswering) return close();
  if (!is_watched_) {
    is_watched_ = true;
    stream_->await_reset([weak = weak_from_this()](const error_code& error) {
      if (const auto self = weak.lock(); self != nullptr && !error) self->close();
    });
  }
  if (knows_interim_answers_ && !is_probing_) enter(Phase::kAnswering, kProbeAfter);
}

// Sends an interim response, which every HTTP/1.1 client ignores. If the client has left, its system answers with a
// reset.
void HttpSession::probe() {
  enter(Phase::kAnswering, milliseconds(0));
  is_probing_ = true;
  stream_->write({asio::buffer(kContinue.data(), kContinue.size())},
                 [self = shared_from_this()](const error_code& error, std::size_t) {
                   self->is_probing_ = false;
                   if (error) return self->close();
                   if (self->phase_ == Phase::kWriting) self->write_body();
                 });
}

// Closing with unread bytes would send a reset, which discards our answer at the peer.
void HttpSession::linger() {
  linger_end_ = steady_clock::now() + (is_beyond_limit_ ? kLingerTime : kLingerTimeMax);
  go_on_lingering();
  begin_ = end_ = 0;
  stream_->end_writing([self = shared_from_this()](const error_code&) { self->read(); });
}

void HttpSession::go_on_lingering() {
  const auto left = std::chrono::duration_cast<milliseconds>(linger_end_ - steady_clock::now());
  enter(Phase::kLingering, std::clamp(left, milliseconds(1), kLingerTime));
}

void HttpSession::close() noexcept {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  deadline_.store(0, std::memory_order_relaxed);
  if (const auto exchange = exchange_.lock()) exchange->gone().request();
  stream_->close();
  if (pause_timer_ != nullptr) pause_timer_->cancel();
  self_.reset();
}

}  // namespace latebind::server
