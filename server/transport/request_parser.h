// RequestParser parses the bytes of one HTTP request as they arrive, and rejects everything else.
//
// It enforces limits of size, and rejects every head that two readers could interpret differently, because that allows
// request smuggling through proxies. It neither reads nor waits. One thread at a time.
#pragma once

#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/refusal.h"
#include "server/transport/http_message.h"

namespace latebind::server {

// Why bytes are not a request that is answered here, and the status that says so.
struct HttpFault {
  Refusal refusal;
  unsigned status = 400;
};

class RequestParser {
 public:
  RequestParser(std::size_t head_bytes_max, std::uint64_t body_bytes_max);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  enum class Step {
    kNeedsMore,  // the request is incomplete, and take() has nothing to do before more bytes arrive
    kHead,       // the head is complete, once per request; request() has everything but the body
    kDone,       // the request is complete
    kRefused,    // fault() has the reason, and the parser has ended
  };
  // Removes the bytes that it takes from the front of `bytes`, and stops at each step. Those that stay come first the
  // next time.
  [[nodiscard]] Step take(std::string_view& bytes);

  [[nodiscard]] HttpFault& fault() { return fault_; }

  [[nodiscard]] bool has_head() const { return has_head_; }
  // The following need a complete head. The body of request() is empty before kDone.
  [[nodiscard]] HttpRequest& request() { return request_; }
  [[nodiscard]] bool keeps_alive() const { return keeps_alive_; }
  [[nodiscard]] bool is_http_1_0() const { return is_http_1_0_; }
  // The body's length according to its header; 0 for a chunked body.
  [[nodiscard]] std::uint64_t announced_bytes() const;
  // How many bytes of the body have arrived.
  [[nodiscard]] std::uint64_t body_bytes() const;
  // Whether some of the request is still to come.
  [[nodiscard]] bool is_complete() const;

 private:
  struct Beast;

  Step refuse(unsigned status, RefusalKind kind, std::string message);
  Step refuse_long_head();
  Step refuse_error(const boost::system::error_code& error, std::string_view bytes);
  Step parse(std::string_view& bytes);
  // Return false after setting fault().
  [[nodiscard]] bool read_head();
  [[nodiscard]] bool check_head();
  [[nodiscard]] bool check_framing();

  const std::size_t head_bytes_max_;
  const std::uint64_t body_bytes_max_;
  const std::unique_ptr<Beast> beast_;
  std::size_t head_bytes_ = 0;  // consumed by Beast
  bool has_head_ = false;
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
  HttpRequest request_;
  HttpFault fault_;
};

}  // namespace latebind::server
