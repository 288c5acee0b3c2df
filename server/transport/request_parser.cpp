#include "server/transport/request_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <iterator>
#include <new>
#include <utility>

#include "core/text/ascii.h"
#include "server/transport/target.h"

namespace latebind::server {

namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::ptrdiff_t kHeadersMax = 128;

std::string_view view_of(boost::string_view text) {
  return {text.data(), text.size()};
}

// Whether the first line is that of a request in a version that is not spoken here ("GET / HTTP/2.0"). Beast reports
// the same error for lines that are not HTTP at all.
bool is_of_other_version(std::string_view bytes) {
  constexpr std::string_view kName = " HTTP/";
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  if (line.size() < kName.size() + 3 || std::ranges::count(line, ' ') != 2) return false;
  const std::string_view version = line.substr(line.size() - kName.size() - 3);
  return version.starts_with(kName) && core::is_ascii_digit(version[6]) && version[7] == '.' &&
         core::is_ascii_digit(version[8]) && version.substr(6) != "1.1" && version.substr(6) != "1.0";
}

// Whether a header continues in the next line. Proxies do not agree on what such a header says, and Beast joins it.
bool has_folded_line(std::string_view bytes) {
  for (std::size_t at = bytes.find("\r\n"); at != std::string_view::npos; at = bytes.find("\r\n", at + 2)) {
    if (at + 2 < bytes.size() && (bytes[at + 2] == ' ' || bytes[at + 2] == '\t')) return true;
  }
  return false;
}

}  // namespace

struct RequestParser::Beast {
  http::request_parser<http::string_body> parser;
};

RequestParser::RequestParser(std::size_t head_bytes_max, std::uint64_t body_bytes_max)
    : head_bytes_max_(head_bytes_max), body_bytes_max_(body_bytes_max), beast_(std::make_unique<Beast>()) {
  beast_->parser.header_limit(static_cast<std::uint32_t>(head_bytes_max));
  beast_->parser.body_limit(body_bytes_max);
}

RequestParser::~RequestParser() = default;

std::uint64_t RequestParser::announced_bytes() const {
  return beast_->parser.content_length().value_or(0);
}
std::uint64_t RequestParser::body_bytes() const {
  return request_.body.empty() ? beast_->parser.get().body().size() : request_.body.size();
}
bool RequestParser::is_complete() const {
  return beast_->parser.is_done();
}

RequestParser::Step RequestParser::refuse(unsigned status, RefusalKind kind, std::string message) {
  fault_ = {.refusal = {.kind = kind, .message = std::move(message), .param = {}}, .status = status};
  return Step::kRefused;
}

RequestParser::Step RequestParser::refuse_long_head() {
  const bool is_target = head_bytes_ == 0;  // not even the first line has ended
  return refuse(is_target ? 414 : 431, RefusalKind::kTooLarge,
                fmt::format("the head has more than {} bytes", head_bytes_max_));
}

RequestParser::Step RequestParser::take(std::string_view& bytes) {
  try {
    return parse(bytes);
  } catch (const std::bad_alloc&) {
    return refuse(503, RefusalKind::kOverloaded, "not enough memory for the request");
  }
}

RequestParser::Step RequestParser::parse(std::string_view& bytes) {
  auto& parser = beast_->parser;
  while (!parser.is_done() && !bytes.empty()) {
    const std::string_view given = bytes;
    error_code error;
    const std::size_t used = parser.put(boost::asio::const_buffer(given.data(), given.size()), error);
    bytes.remove_prefix(used);
    if (!has_head_) head_bytes_ += used;
    if (error && error != http::error::need_more) return refuse_error(error, given);
    // Beast's own limits count only what it has taken.
    if (has_head_) {
      if (bytes.size() > head_bytes_max_ && !parser.is_done()) {
        return refuse(400, RefusalKind::kBadRequest, "the chunks of the body have too much framing");
      }
    } else {
      const std::size_t waiting = parser.is_header_done() ? 0 : bytes.size();
      if (head_bytes_ + waiting > head_bytes_max_) return refuse_long_head();
      if (has_folded_line(given.substr(0, used))) {
        return refuse(400, RefusalKind::kBadRequest, "a header must be on one line");
      }
      if (parser.is_header_done()) {
        if (!read_head()) return Step::kRefused;
        parser.eager(true);
        return Step::kHead;
      }
    }
    if (error || used == 0) break;
  }
  if (!parser.is_done()) return Step::kNeedsMore;
  request_.body = std::move(parser.get().body());
  return Step::kDone;
}

RequestParser::Step RequestParser::refuse_error(const error_code& error, std::string_view bytes) {
  if (error == http::error::body_limit) {
    // A length that the head announces is refused as its own request.
    if (!has_head_ && !read_head()) return Step::kRefused;
    return refuse(413, RefusalKind::kTooLarge, fmt::format("the body has more than {} bytes", body_bytes_max_));
  }
  if (!has_head_ && (error == http::error::header_limit || error == http::error::buffer_overflow)) {
    return refuse_long_head();
  }
  return refuse(error == http::error::bad_version && is_of_other_version(bytes) ? 505 : 400, RefusalKind::kBadRequest,
                fmt::format("this is not an HTTP request: {}", error.message()));
}

bool RequestParser::read_head() {
  if (!check_head()) return false;
  const auto& head = beast_->parser.get();
  // Values are copied now: to Beast, trailers are headers, too.
  request_.method = std::string(view_of(head.method_string()));
  auto target = *Target::parse(view_of(head.target()));
  request_.path = std::move(target.path);
  request_.segments = std::move(target.segments);
  request_.query = std::move(target.query);
  for (const auto& field : head) {
    request_.headers.emplace_back(core::ascii_lowered(view_of(field.name_string())),
                                  std::string(view_of(field.value())));
  }
  keeps_alive_ = head.keep_alive();
  is_http_1_0_ = head.version() == 10;
  has_head_ = true;
  return true;
}

bool RequestParser::check_head() {
  const auto& head = beast_->parser.get();
  const auto bad = [this](unsigned status, RefusalKind kind, std::string message) {
    refuse(status, kind, std::move(message));
    return false;
  };
  if (head.version() != 10 && head.version() != 11) {
    return bad(505, RefusalKind::kBadRequest, "only HTTP/1.0 and HTTP/1.1 are supported");
  }
  if (std::distance(head.begin(), head.end()) > kHeadersMax) {
    return bad(431, RefusalKind::kTooLarge, fmt::format("the request has more than {} headers", kHeadersMax));
  }
  if (const auto hosts = head.count(http::field::host); hosts > 1 || (head.version() == 11 && hosts == 0)) {
    return bad(400, RefusalKind::kBadRequest, "the request must have exactly one Host header");
  }
  if (!check_framing()) return false;
  const auto codings = head.equal_range(http::field::content_encoding);
  for (auto coding = codings.first; coding != codings.second; ++coding) {
    const std::string name = core::ascii_lowered(view_of(coding->value()));
    if (!name.empty() && name != "identity") {
      return bad(415, RefusalKind::kMediaType, "compressed bodies are not supported");
    }
  }
  const std::string expected = core::ascii_lowered(view_of(head[http::field::expect]));
  if (!expected.empty() && expected != "100-continue") {
    return bad(417, RefusalKind::kBadRequest, "Expect must be 100-continue");
  }
  if (!Target::parse(view_of(head.target()))) {
    return bad(400, RefusalKind::kBadRequest, "the path is invalid: it must begin with / and be UTF-8 after decoding");
  }
  return true;
}

// Where the body ends must be said once.
bool RequestParser::check_framing() {
  const auto& head = beast_->parser.get();
  const auto bad = [this](unsigned status, std::string message) {
    refuse(status, RefusalKind::kBadRequest, std::move(message));
    return false;
  };
  const auto lengths = head.count(http::field::content_length);
  const auto encodings = head.count(http::field::transfer_encoding);
  if (lengths > 1) return bad(400, "the request has more than one Content-Length");
  const std::string_view length = view_of(head[http::field::content_length]);
  if (length.find_first_not_of("0123456789") != std::string_view::npos) {
    return bad(400, "Content-Length must be a number");
  }
  if (encodings == 0) return true;
  if (encodings > 1 || lengths > 0 || head.version() == 10) {
    return bad(400, "Transfer-Encoding contradicts another header");
  }
  if (core::ascii_lowered(view_of(head[http::field::transfer_encoding])) != "chunked") {
    return bad(501, "Transfer-Encoding must be chunked");
  }
  return true;
}

}  // namespace latebind::server
