#include "core/http/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <utility>

#include "core/http/curl_library.h"
#include "core/log.h"
#include "core/platform/environment.h"
#include "core/text/ascii.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// Limits for the headers of one answer; no server that Latebind asks sends more.
constexpr std::size_t kHeadersMax = 200;
constexpr std::size_t kHeaderBytesMax = std::size_t{16} * 1024;
// An answer whose body is dropped counts as complete after this many bytes of it.
constexpr std::uint64_t kDroppedBytesMax = std::uint64_t{1} << 20;
constexpr std::chrono::seconds kConnectTimeoutMax{10};
// A rate below this many bytes a second counts as standing still.
constexpr long kSlowestBytes = 128;
constexpr long kBufferBytes = 512L * 1024;
// The interval at which an exchange looks for a cancellation while nothing arrives.
constexpr int kSliceMs = 50;
constexpr int kUncancellableSliceMs = 1'000;

constexpr std::string_view name_of(HttpMethod method) {
  return method == HttpMethod::kHead ? "HEAD" : method == HttpMethod::kPost ? "POST" : "GET";
}

// The state of the callbacks. No exception may pass through libcurl.
struct Exchange {
  const HttpBody* body = nullptr;
  HttpAnswer answer;
  bool begun = false;
  std::uint64_t bytes = 0;
  bool is_enough = false;  // the rest of a dropped body does not matter
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
void read_header(Exchange& exchange, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    exchange.answer = {};
    const auto blank = line.find(' ');
    if (blank != std::string_view::npos) {
      exchange.answer.status = static_cast<int>(parse_byte_count(trimmed_line(line.substr(blank + 1, 3))).value_or(0));
    }
    return;
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || line.size() > kHeaderBytesMax) return;
  if (exchange.answer.headers.size() >= kHeadersMax) return;
  exchange.answer.headers.insert_or_assign(ascii_lowered(line.substr(0, colon)),
                                           std::string(trimmed_line(line.substr(colon + 1))));
}

Status read_body(Exchange& exchange, std::string_view bytes) {
  exchange.bytes += bytes.size();
  if (!has_body(exchange.answer) || !exchange.body->write) {
    exchange.is_enough = exchange.bytes > kDroppedBytesMax;
    return {};
  }
  if (exchange.bytes > exchange.body->bytes_max) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("the answer is longer than {} bytes", exchange.body->bytes_max));
  }
  if (!std::exchange(exchange.begun, true) && exchange.body->begin) {
    LB_RETURN_IF_ERROR(exchange.body->begin(exchange.answer));
  }
  return exchange.body->write(bytes);
}

// Calls `read` and catches exceptions; any result other than `size` ends the exchange.
template <class Read>
std::size_t guarded(void* user, std::size_t size, const Read& read) noexcept {
  auto& exchange = *static_cast<Exchange*>(user);
  try {
    read(exchange);
  } catch (const std::bad_alloc&) {
    exchange.failure = Status(StatusCode::kOutOfMemory, "out of memory during a download");
  } catch (const std::exception& error) {
    exchange.failure = Status(StatusCode::kInternal, error.what());
  }
  return exchange.failure.ok() && !exchange.is_enough ? size : 0;
}

std::size_t on_header(char* data, std::size_t one, std::size_t count, void* user) noexcept {
  return guarded(user, one * count, [&](Exchange& exchange) { read_header(exchange, {data, one * count}); });
}

std::size_t on_body(char* data, std::size_t one, std::size_t count, void* user) noexcept {
  return guarded(user, one * count, [&](Exchange& exchange) {
    exchange.failure = read_body(exchange, {data, one * count});
  });
}

struct Meaning {
  HttpFailure failure;
  StatusCode code;
  std::string words;  // what follows "cannot reach …: "
};

Meaning meaning_of(CURLcode code, const HttpOptions& options) {
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
              options.timeout_setting.empty()
                  ? "it did not answer in time"
                  : fmt::format("it did not answer in time; {} set the seconds", options.timeout_setting)};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {HttpFailure::kPermanent, StatusCode::kPermissionDenied,
              "its certificate is not trusted; set SSL_CERT_FILE to the file of an authority to trust"};
    case CURLE_SSL_CACERT_BADFILE:
      return {HttpFailure::kPermanent, StatusCode::kInvalidArgument,
              "the file of trusted certificates cannot be read; check SSL_CERT_FILE, or install ca-certificates"};
    case CURLE_OUT_OF_MEMORY:
      return {HttpFailure::kPermanent, StatusCode::kOutOfMemory, "out of memory"};
    case CURLE_SSL_CONNECT_ERROR:
      return {HttpFailure::kTransient, StatusCode::kIo, "the encrypted connection could not be established"};
    default:
      return {HttpFailure::kTransient, StatusCode::kIo, "the connection broke off"};
  }
}

// The options of one exchange. libcurl keeps a copy of the address; everything else must live until the exchange ends.
class RequestOptions {
 public:
  RequestOptions(const CurlLibrary& curl, CURL* handle) : curl_(curl), handle_(handle) {}
  RequestOptions(const RequestOptions&) = delete;
  RequestOptions& operator=(const RequestOptions&) = delete;
  ~RequestOptions() { curl_.list_free(headers_); }

  // Whether libcurl accepted all of them.
  [[nodiscard]] bool set_all(const HttpRequest& request, const std::string& authorities, Exchange& exchange) {
    // Keeps connections and resolved names.
    curl_.easy_reset(handle_);
    set(CURLOPT_URL, request.url.c_str());
    set_method(request);
    set(CURLOPT_HTTPHEADER, headers_);
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(&exchange));
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(&exchange));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    // Timeouts must not use signals, which belong to the program.
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(std::min(request.stall_timeout, kConnectTimeoutMax).count()));
    set(CURLOPT_LOW_SPEED_LIMIT, kSlowestBytes);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall_timeout.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.whole_timeout.count()));
    set(CURLOPT_ERRORBUFFER, error_.data());
    if (!request.uses_proxy) set(CURLOPT_PROXY, "");
    if (!authorities.empty()) set(CURLOPT_CAINFO, authorities.c_str());
    const bool is_accepted = is_accepted_;
    set(CURLOPT_BUFFERSIZE, kBufferBytes);
    set(CURLOPT_USERAGENT, "latebind/" LATEBIND_VERSION);
    return is_accepted;
  }

  // What libcurl says of the error, or "".
  [[nodiscard]] const char* error() const { return error_.data(); }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    is_accepted_ = curl_.set_option(handle_, option, value) == CURLE_OK && is_accepted_;
  }

  void add_header(const char* header) {
    curl_slist* const longer = curl_.list_append(headers_, header);
    is_accepted_ = longer != nullptr && is_accepted_;
    if (longer != nullptr) headers_ = longer;
  }

  void set_method(const HttpRequest& request) {
    for (const std::string& header : request.headers)
      add_header(header.c_str());
    if (request.from > 0) add_header(fmt::format("Range: bytes={}-", request.from).c_str());
    if (request.method == HttpMethod::kHead) set(CURLOPT_NOBODY, 1L);
    if (request.method != HttpMethod::kPost) return;
    // The content is short enough to be sent without asking first.
    add_header("Expect:");
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.content.size()));
    set(CURLOPT_POSTFIELDS, request.content.data());
  }

  const CurlLibrary& curl_;
  CURL* const handle_;
  curl_slist* headers_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  bool is_accepted_ = true;
};

}  // namespace

struct HttpClient::State {
  State(const CurlLibrary& library, HttpOptions given)
      : curl(library), options(std::move(given)), handle(library.easy_init()), connections(library.multi_init()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (handle != nullptr) curl.easy_cleanup(handle);
    if (connections != nullptr) curl.multi_cleanup(connections);
  }

  // Performs the request of `handle`. Returns CURLE_ABORTED_BY_CALLBACK when `is_cancelled`.
  [[nodiscard]] CURLcode perform(const std::function<bool()>& is_cancelled) const {
    if (curl.multi_add(connections, handle) != CURLM_OK) return CURLE_FAILED_INIT;
    const CURLcode code = perform_added(is_cancelled);
    curl.multi_remove(connections, handle);
    return code;
  }

  const CurlLibrary& curl;
  const HttpOptions options;
  CURL* const handle;
  CURLM* const connections;

 private:
  [[nodiscard]] CURLcode perform_added(const std::function<bool()>& is_cancelled) const {
    const int slice = is_cancelled ? kSliceMs : kUncancellableSliceMs;
    for (;;) {
      if (is_cancelled && is_cancelled()) return CURLE_ABORTED_BY_CALLBACK;
      int running = 0;
      int messages = 0;
      if (curl.multi_perform(connections, &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (const CURLMsg* const message = curl.multi_next_message(connections, &messages)) return message->data.result;
      if (running == 0) return CURLE_FAILED_INIT;
      if (curl.multi_poll(connections, nullptr, 0, slice, nullptr) != CURLM_OK) return CURLE_FAILED_INIT;
    }
  }
};

HttpBody body_into(std::string& text, std::size_t bytes_max) {
  HttpBody body;
  body.begin = [&text](const HttpAnswer&) {
    text.clear();
    return Status();
  };
  body.write = [&text](std::string_view bytes) {
    text += bytes;
    return Status();
  };
  body.bytes_max = bytes_max;
  return body;
}

std::string authorities_of_environment() {
  return platform::trusted_environment("SSL_CERT_FILE").value_or("");
}

Result<HttpClient> HttpClient::make(HttpOptions options) {
  const auto curl = CurlLibrary::get();
  if (!curl.ok()) {
    return Status(curl.status().code(),
                  fmt::format("{} needs {}, or {}", options.purpose, curl.status().message(), options.alternative));
  }
  auto state = std::make_unique<State>(**curl, std::move(options));
  if (state->handle == nullptr || state->connections == nullptr) {
    return Status(StatusCode::kOutOfMemory, "libcurl cannot create a handle");
  }
  return HttpClient(std::move(state));
}

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

HttpOutcome HttpClient::exchange(const HttpRequest& request, const HttpBody& body) {
  // libcurl would also read files, and ask servers of other kinds.
  if (origin_of(request.url).empty()) {
    return {.answer = {},
            .failure = HttpFailure::kPermanent,
            .status = Status(StatusCode::kInvalidArgument,
                             fmt::format("{} is not an HTTP address; check {}", core::quoted(shown_url(request.url)),
                                         state_->options.address_setting))};
  }
  const CurlLibrary& curl = state_->curl;
  CURL* const handle = state_->handle;
  Exchange exchange;
  exchange.body = &body;
  RequestOptions options(curl, handle);
  CURLcode code = CURLE_FAILED_INIT;
  if (options.set_all(request, state_->options.authorities, exchange)) code = state_->perform(request.is_cancelled);
  if (exchange.is_enough) code = CURLE_OK;
  if (code == CURLE_ABORTED_BY_CALLBACK) exchange.failure = Status(StatusCode::kCancelled, "cancelled");

  char* redirect = nullptr;
  if (curl.get_info(handle, CURLINFO_REDIRECT_URL, &redirect) == CURLE_OK && redirect != nullptr) {
    exchange.answer.redirect = redirect;
  }
  const bool has_no_bytes = request.method != HttpMethod::kHead && !exchange.begun && has_body(exchange.answer);
  if (code == CURLE_OK && has_no_bytes && body.begin) exchange.failure = body.begin(exchange.answer);

  HttpOutcome outcome;
  outcome.answer = std::move(exchange.answer);
  log(LogLevel::kDebug,
      fmt::format("{} {}: {}", name_of(request.method), shown_url(request.url),
                  code == CURLE_OK ? std::to_string(outcome.answer.status) : std::string(curl.error_text(code))));
  if (!exchange.failure.ok()) {
    outcome.failure = HttpFailure::kBody;
    outcome.status = std::move(exchange.failure);
  } else if (code != CURLE_OK) {
    Meaning meaning = meaning_of(code, state_->options);
    outcome.failure = meaning.failure;
    outcome.status =
        Status::from_vendor(meaning.code, fmt::format("cannot reach {}: {}", origin_of(request.url), meaning.words),
                            code, *options.error() != '\0' ? options.error() : curl.error_text(code));
  }
  return outcome;
}

std::string HttpClient::origin_of(const std::string& url) const {
  const CurlLibrary& curl = state_->curl;
  CURLU* const parts = curl.url_make();
  if (parts == nullptr) return {};
  const auto get = [&](CURLUPart part, unsigned flags) {
    char* text = nullptr;
    std::string value;
    if (curl.url_get(parts, part, &text, flags) == CURLUE_OK && text != nullptr) value = text;
    curl.free(text);
    return value;
  };
  std::string origin;
  if (curl.url_set(parts, CURLUPART_URL, url.c_str(), 0) == CURLUE_OK) {
    const std::string scheme = get(CURLUPART_SCHEME, 0);
    if (scheme == "https" || scheme == "http") {
      origin = fmt::format("{}://{}:{}", scheme, get(CURLUPART_HOST, 0), get(CURLUPART_PORT, CURLU_DEFAULT_PORT));
    }
  }
  curl.url_cleanup(parts);
  return origin;
}

}  // namespace latebind::core
