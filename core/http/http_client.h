// HttpClient: sends requests over HTTP or HTTPS, one at a time, and delivers the headers and the body of each answer as
// they arrive. It is the only HTTP client: models by name (embedding/hub/) and traces (server/observe/) use it.
// Redirects and retries are left to the caller.
//
// libcurl does the work, and is opened when the first client is made (curl_library.h). Its variables name proxies
// (https_proxy, no_proxy …). Connections are kept for later requests of the same client. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/http_headers.h"
#include "core/result.h"

namespace latebind::core {

struct CurlLibrary;

enum class HttpMethod { kGet, kHead, kPost };

struct HttpRequest {
  HttpMethod method = HttpMethod::kGet;
  std::string url;
  std::vector<std::string> headers{};          // "Name: value"
  std::string_view content{};                  // of kPost
  std::uint64_t from = 0;                      // the first byte to send; a server may ignore it
  std::chrono::seconds stall_timeout{10};      // limit for a time with almost no data
  std::chrono::milliseconds whole_timeout{0};  // 0: no limit
  bool uses_proxy = true;                      // false: connects directly, whatever the environment says
  // Asked about twenty times a second while the exchange runs; true ends it with kBody and kCancelled.
  std::function<bool()> is_cancelled{};
};

struct HttpAnswer {
  int status = 0;
  HttpHeaders headers;
  std::string redirect;  // the full address if the answer is a redirect
};

// Receives the body of an answer with status 200 or 206; other bodies are dropped. An error ends the exchange.
struct HttpBody {
  std::function<Status(const HttpAnswer& answer)> begin{};  // called once before the first byte, even of an empty body
  std::function<Status(std::string_view bytes)> write{};
  std::uint64_t bytes_max = UINT64_MAX;  // a longer body fails with kInvalidModel
};

// Returns a body that replaces `text` by what arrives. `text` must outlive it.
[[nodiscard]] HttpBody body_into(std::string& text, std::size_t bytes_max);

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
  Status status;  // ok if the exchange did not fail, whatever the answer's status
};

struct HttpOptions {
  std::string authorities{};  // a file of trusted certificates; empty: the library's own
  // Words for errors.
  std::string purpose{};          // what needs libcurl: "downloading from the hub"
  std::string alternative{};      // what to do without libcurl: "give the folder of a model"
  std::string address_setting{};  // what sets the address: "HF_ENDPOINT"
  std::string timeout_setting{};  // what sets the time limits; empty: nothing does
};

class HttpClient {
 public:
  // Returns kLibraryNotFound if libcurl cannot be opened, saying what to install.
  static Result<HttpClient> make(HttpOptions options);

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  [[nodiscard]] HttpOutcome exchange(const HttpRequest& request, const HttpBody& body);

  // "https://host:443"; empty for anything but an HTTP address.
  [[nodiscard]] std::string origin_of(const std::string& url) const;

 private:
  struct State;
  explicit HttpClient(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// The file of trusted certificates that SSL_CERT_FILE names, or "".
[[nodiscard]] std::string authorities_of_environment();

}  // namespace latebind::core
