// Http: HTTP exchanges over libcurl, one at a time: a request, the response's headers, and its body as it arrives.
// Redirects and retries are left to the caller (client.h).
//
// libcurl's own variables configure proxies (https_proxy, no_proxy …). Connections are kept for later requests of the
// same object. One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/threads/cancellation.h"
#include "embedding/hub/answers.h"

namespace latebind::embedding::hub {

struct CurlLibrary;

struct HttpRequest {
  bool head = false;  // HEAD instead of GET
  std::string url;
  std::vector<std::string> headers;        // "Name: value"
  std::chrono::seconds stall_timeout{10};  // limit for a time with almost no data
  std::chrono::seconds whole_timeout{0};   // 0: no limit
  core::Cancellation cancellation{};       // noticed within about a second; fails like the body, with kCancelled
};

struct HttpAnswer {
  int status = 0;
  Headers headers;
  std::string redirect;  // the full address if the answer is a redirect
};

// Receives the body of a response with status 200 or 206; other bodies are dropped. An error ends the exchange.
struct HttpBody {
  std::function<core::Status(const HttpAnswer& answer)> begin;  // called once before the first byte, even of an empty
                                                                // body
  std::function<core::Status(std::string_view bytes)> write;
};

// How an exchange failed.
enum class HttpFailure {
  kNone,
  kTransient,  // temporary, such as an interruption, a refusal or a timeout: may be retried
  kPermanent,  // an untrusted certificate, an unknown host: an immediate retry is useless
  kBody,       // the receiver of the body failed, or the request was cancelled
};

struct HttpOutcome {
  HttpAnswer answer;
  HttpFailure failure = HttpFailure::kNone;
  core::Status status;  // ok if the exchange did not fail, whatever the answer's status
};

class Http {
 public:
  // Returns kLibraryNotFound or kLibraryUnusable. `authorities` is a file of trusted certificates, or empty.
  static core::Result<Http> make(std::string authorities);

  Http(Http&&) noexcept;
  Http& operator=(Http&&) noexcept;
  ~Http();

  [[nodiscard]] HttpOutcome exchange(const HttpRequest& request, const HttpBody& body);

  // "https://host:443"; empty for anything but an HTTP address.
  [[nodiscard]] std::string origin_of(const std::string& url) const;

 private:
  Http(const CurlLibrary& curl, void* handle, std::string authorities);

  const CurlLibrary* curl_;
  void* handle_;
  std::string authorities_;
};

// The address without parts that may be secret: user, password, query.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace latebind::embedding::hub
