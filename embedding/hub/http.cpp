#include "embedding/hub/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "core/log.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"
#include "embedding/hub/curl_library.h"

namespace latebind::embedding::hub {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;

// Limits for the headers of one response; no hub sends more.
constexpr std::size_t kHeadersMax = 200;
constexpr std::size_t kHeaderBytesMax = std::size_t{16} * 1024;
constexpr long kConnectTimeoutMax = 10;
// A rate below this many bytes a second counts as standing still.
constexpr long kSlowestBytes = 128;
constexpr long kBufferBytes = 512L * 1024;

// The state of the callbacks. No exception may pass through libcurl.
struct Exchange {
  const HttpBody* body = nullptr;
  core::Cancellation cancellation{};
  HttpAnswer answer;
  bool begun = false;
  Status failure;
};

bool has_body(const HttpAnswer& answer) {
  return answer.status == 200 || answer.status == 206;
}

std::string_view trimmed_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  return text;
}

// A status line begins a new answer: answers of a proxy and "100 Continue" precede the final one.
void take_header(Exchange& exchange, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    exchange.answer = {};
    const auto blank = line.find(' ');
    if (blank != std::string_view::npos) {
      exchange.answer.status = static_cast<int>(parse_bytes(trimmed_line(line.substr(blank + 1, 3))).value_or(0));
    }
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || line.size() > kHeaderBytesMax) return;
  if (exchange.answer.headers.size() >= kHeadersMax) return;
  exchange.answer.headers.insert_or_assign(core::ascii_lowered(line.substr(0, colon)),
                                           std::string(trimmed_line(line.substr(colon + 1))));
}

Status take_body(Exchange& exchange, std::string_view bytes) {
  if (!has_body(exchange.answer)) return {};
  if (!std::exchange(exchange.begun, true) && exchange.body->begin) {
    LB_RETURN_IF_ERROR(exchange.body->begin(exchange.answer));
  }
  return exchange.body->write ? exchange.body->write(bytes) : Status();
}

// Calls `take` and catches exceptions; any result other than `size` ends the exchange.
template <class Take>
std::size_t guarded(void* user, std::size_t size, const Take& take) noexcept {
  auto& exchange = *static_cast<Exchange*>(user);
  try {
    take(exchange);
  } catch (const std::bad_alloc&) {
    exchange.failure = Status(StatusCode::kOutOfMemory, "out of memory during a download");
  } catch (const std::exception& error) {
    exchange.failure = Status(StatusCode::kInternal, error.what());
  }
  return exchange.failure.ok() ? size : 0;
}

std::size_t on_header(char* data, std::size_t one, std::size_t count, void* user) noexcept {
  return guarded(user, one * count, [&](Exchange& exchange) { take_header(exchange, {data, one * count}); });
}

std::size_t on_body(char* data, std::size_t one, std::size_t count, void* user) noexcept {
  return guarded(user, one * count, [&](Exchange& exchange) {
    exchange.failure = take_body(exchange, {data, one * count});
  });
}

// Called at least once a second, even while no data arrives.
int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  auto& exchange = *static_cast<Exchange*>(user);
  if (!exchange.cancellation.is_requested()) return 0;
  exchange.failure = Status(StatusCode::kCancelled, "cancelled");
  return 1;
}

struct Meaning {
  HttpFailure failure;
  StatusCode code;
  std::string_view words;  // what follows "cannot reach …: "
};

Meaning meaning_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {HttpFailure::kTransient, StatusCode::kIo,
              "its name cannot be resolved; is there a network, or must https_proxy name a proxy?"};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {HttpFailure::kPermanent, StatusCode::kIo, "the proxy's name cannot be resolved; check https_proxy"};
    case CURLE_COULDNT_CONNECT:
      return {HttpFailure::kTransient, StatusCode::kIo, "no response; is there a network?"};
    case CURLE_OPERATION_TIMEDOUT:
      return {HttpFailure::kTransient, StatusCode::kDeadlineExceeded,
              "it did not answer in time; HF_HUB_DOWNLOAD_TIMEOUT and HF_HUB_ETAG_TIMEOUT set the seconds"};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {HttpFailure::kPermanent, StatusCode::kPermissionDenied,
              "its certificate is not trusted; set SSL_CERT_FILE to the file of an authority to trust"};
    case CURLE_SSL_CACERT_BADFILE:
      return {HttpFailure::kPermanent, StatusCode::kInvalidArgument,
              "the file of trusted certificates cannot be read; check SSL_CERT_FILE, or install ca-certificates"};
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return {HttpFailure::kPermanent, StatusCode::kInvalidArgument, "this is not an HTTP address; check HF_ENDPOINT"};
    case CURLE_OUT_OF_MEMORY:
      return {HttpFailure::kPermanent, StatusCode::kOutOfMemory, "out of memory"};
    case CURLE_SSL_CONNECT_ERROR:
      return {HttpFailure::kTransient, StatusCode::kIo, "the encrypted connection could not be established"};
    default:
      return {HttpFailure::kTransient, StatusCode::kIo, "the connection broke off"};
  }
}

}  // namespace

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return printable(url);
  const std::string_view rest = url.substr(scheme + 3);
  const auto at = rest.substr(0, rest.find('/')).rfind('@');
  return printable(
      fmt::format("{}{}", url.substr(0, scheme + 3), at == std::string_view::npos ? rest : rest.substr(at + 1)));
}

Result<Http> Http::make(std::string authorities) {
  LB_ASSIGN_OR_RETURN(const CurlLibrary* const curl, CurlLibrary::get());
  void* const handle = curl->easy_init();
  if (handle == nullptr) return Status(StatusCode::kOutOfMemory, "libcurl cannot create a handle");
  return Http(*curl, handle, std::move(authorities));
}

Http::Http(const CurlLibrary& curl, void* handle, std::string authorities)
    : curl_(&curl), handle_(handle), authorities_(std::move(authorities)) {}

Http::Http(Http&& other) noexcept
    : curl_(other.curl_), handle_(std::exchange(other.handle_, nullptr)), authorities_(std::move(other.authorities_)) {}

Http& Http::operator=(Http&& other) noexcept {
  std::swap(curl_, other.curl_);
  std::swap(handle_, other.handle_);
  std::swap(authorities_, other.authorities_);
  return *this;
}

Http::~Http() {
  if (handle_ != nullptr) curl_->easy_cleanup(handle_);
}

HttpOutcome Http::exchange(const HttpRequest& request, const HttpBody& body) {
  const CurlLibrary& curl = *curl_;
  CURL* const handle = handle_;
  Exchange exchange;
  exchange.body = &body;
  exchange.cancellation = request.cancellation;
  std::array<char, CURL_ERROR_SIZE> error{};
  // Keeps connections and resolved names.
  curl.easy_reset(handle);
  curl_slist* list = nullptr;
  for (const std::string& header : request.headers) {
    if (curl_slist* const longer = curl.list_append(list, header.c_str())) list = longer;
  }
  const auto set = [&](CURLoption option, auto value) { return curl.set_option(handle, option, value); };
  bool taken = set(CURLOPT_URL, request.url.c_str()) == CURLE_OK;
  taken = set(CURLOPT_HTTPHEADER, list) == CURLE_OK && taken;
  taken = set(CURLOPT_HEADERFUNCTION, &on_header) == CURLE_OK && taken;
  taken = set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange)) == CURLE_OK && taken;
  taken = set(CURLOPT_WRITEFUNCTION, &on_body) == CURLE_OK && taken;
  taken = set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange)) == CURLE_OK && taken;
  taken = set(CURLOPT_NOBODY, request.head ? 1L : 0L) == CURLE_OK && taken;
  taken = set(CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK && taken;
  // Timeouts must not use signals, which belong to the program.
  taken = set(CURLOPT_NOSIGNAL, 1L) == CURLE_OK && taken;
  const long stall = static_cast<long>(request.stall_timeout.count());
  taken = set(CURLOPT_CONNECTTIMEOUT, std::min(stall, kConnectTimeoutMax)) == CURLE_OK && taken;
  taken = set(CURLOPT_LOW_SPEED_LIMIT, kSlowestBytes) == CURLE_OK && taken;
  taken = set(CURLOPT_LOW_SPEED_TIME, stall) == CURLE_OK && taken;
  taken = set(CURLOPT_TIMEOUT, static_cast<long>(request.whole_timeout.count())) == CURLE_OK && taken;
  taken = set(CURLOPT_ERRORBUFFER, error.data()) == CURLE_OK && taken;
  if (request.cancellation.can_be_requested()) {
    taken = set(CURLOPT_NOPROGRESS, 0L) == CURLE_OK && taken;
    taken = set(CURLOPT_XFERINFOFUNCTION, &on_progress) == CURLE_OK && taken;
    taken = set(CURLOPT_XFERINFODATA, static_cast<void*>(&exchange)) == CURLE_OK && taken;
  }
  static_cast<void>(set(CURLOPT_BUFFERSIZE, kBufferBytes));
  static_cast<void>(set(CURLOPT_USERAGENT, "latebind/" LATEBIND_VERSION));
  if (!authorities_.empty()) taken = set(CURLOPT_CAINFO, authorities_.c_str()) == CURLE_OK && taken;

  const CURLcode code = taken ? curl.perform(handle) : CURLE_FAILED_INIT;
  HttpOutcome outcome;
  char* redirect = nullptr;
  if (curl.get_info(handle, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK && redirect != nullptr) {
    exchange.answer.redirect = redirect;
  }
  curl.list_free(list);
  if (code == CURLE_OK && has_body(exchange.answer) && !request.head && !exchange.begun && body.begin) {
    exchange.failure = body.begin(exchange.answer);
  }
  outcome.answer = std::move(exchange.answer);
  core::log(core::LogLevel::kDebug,
            fmt::format("{} {}: {}", request.head ? "HEAD" : "GET", shown_url(request.url),
                        code == CURLE_OK ? std::to_string(outcome.answer.status) : std::string(curl.error_text(code))));
  if (!exchange.failure.ok()) {
    outcome.failure = HttpFailure::kBody;
    outcome.status = std::move(exchange.failure);
  } else if (code != CURLE_OK) {
    const Meaning meaning = meaning_of(code);
    outcome.failure = meaning.failure;
    outcome.status =
        Status::from_vendor(meaning.code, fmt::format("cannot reach {}: {}", origin_of(request.url), meaning.words),
                            code, error.front() != '\0' ? error.data() : curl.error_text(code));
  }
  return outcome;
}

std::string Http::origin_of(const std::string& url) const {
  CURLU* const parts = curl_->url_make();
  if (parts == nullptr) return {};
  const auto get = [&](CURLUPart part, unsigned flags) {
    char* text = nullptr;
    std::string value;
    if (curl_->url_get(parts, part, &text, flags) == CURLUE_OK && text != nullptr) value = text;
    curl_->free(text);
    return value;
  };
  std::string origin;
  if (curl_->url_set(parts, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) {
    const std::string scheme = get(CURLUPART_SCHEME, 0);
    if (scheme == "https" || scheme == "http") {
      origin = fmt::format("{}://{}:{}", scheme, get(CURLUPART_HOST, 0), get(CURLUPART_PORT, CURLU_DEFAULT_PORT));
    }
  }
  curl_->url_cleanup(parts);
  return origin;
}

}  // namespace latebind::embedding::hub
