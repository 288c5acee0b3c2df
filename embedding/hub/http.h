// One HTTP exchange at a time over libcurl: a request, the response's headers, and its body as it arrives. No redirect
// is followed and nothing is retried here: the caller decides (client.h).
//
// Proxies come from libcurl's own variables (https_proxy, no_proxy …). Connections are kept for the next request of the
// same object. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cancellation.h"
#include "core/result.h"
#include "embedding/hub/answers.h"

namespace latebind::embedding::hub {

struct CurlLibrary;

struct HttpRequest {
  bool head = false;  // HEAD, else GET
  std::string url;
  std::vector<std::string> headers;        // "Name: value"
  std::chrono::seconds stall_timeout{10};  // no or almost no data arrives for this long
  std::chrono::seconds whole_timeout{0};   // 0: no limit
  core::Cancellation cancellation{};       // noticed within a second or so, as a failure of the body: kCancelled
};

struct HttpAnswer {
  int status = 0;
  Headers headers;
  std::string redirect;  // full address, when the answer is one
};

// Receives the body of a response with status 200 or 206; other bodies are dropped. An error ends the exchange.
struct HttpBody {
  std::function<core::Status(const HttpAnswer& answer)> begin;  // once, before the first byte, also of an empty body
  std::function<core::Status(std::string_view bytes)> write;
};

// How an exchange failed.
enum class HttpFailure {
  kNone,
  kTransient,  // interrupted, refused, timed out: may be retried
  kPermanent,  // an untrusted certificate, an unknown host: an immediate retry is useless
  kBody,       // the receiver of the body failed, or it was cancelled
};

struct HttpOutcome {
  HttpAnswer answer;
  HttpFailure failure = HttpFailure::kNone;
  core::Status status;  // ok when there is no failure, whatever the answer's status
};

class Http {
 public:
  // kLibraryNotFound or kLibraryUnusable. `authorities`: a file of certificates to trust, or empty.
  static core::Result<Http> make(std::string authorities);

  Http(Http&&) noexcept;
  Http& operator=(Http&&) noexcept;
  ~Http();

  [[nodiscard]] HttpOutcome exchange(const HttpRequest& request, const HttpBody& body);

  // "https://host:443", or empty for anything but an HTTP address.
  [[nodiscard]] std::string origin_of(const std::string& url) const;

 private:
  Http(const CurlLibrary& curl, void* handle, std::string authorities);

  const CurlLibrary* curl_;
  void* handle_;
  std::string authorities_;
};

// The address without what may be a secret: user, password, query.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace latebind::embedding::hub
