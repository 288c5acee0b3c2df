// One request: refused early, or answered by the handler of its route.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "core/platform/random.h"
#include "core/text/ascii.h"
#include "core/text/name_character.h"
#include "server/server_state.h"

namespace latebind::server {

using core::Result;
using core::Status;
using core::StatusCode;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr std::size_t kRequestIdMax = 128;
// Larger bodies are read and tokenized on separate threads, so that they do not delay small ones.
constexpr std::size_t kLargeBody = std::size_t{64} << 10;
// The headers that a page of another origin may send and read.
constexpr std::string_view kRequestHeaders =
    "authorization, content-type, x-api-key, x-request-id, x-request-timeout-ms, traceparent, "
    "inference-header-content-length";
constexpr std::string_view kAnswerHeaders =
    "x-request-id, x-latebind-device, x-latebind-precision, x-latebind-fallback, x-latebind-truncated-texts, "
    "Retry-After, "
    "inference-header-content-length, x-compute-type, x-compute-time, x-compute-characters, x-compute-tokens, "
    "x-total-time, x-tokenization-time, x-queue-time, x-inference-time";
constexpr std::size_t kWantedHeadersMax = 1024;

// Whether the id consists of characters that headers and logs can contain unchanged.
bool is_request_id(std::string_view id) {
  return !id.empty() && id.size() <= kRequestIdMax && std::ranges::all_of(id, [](char letter) {
    return core::is_name_character(letter) || letter == ':' || letter == '/';
  });
}

std::string new_request_id() {
  thread_local std::mt19937_64 generator(platform::random_number());
  return fmt::format("{:016x}", generator());
}

// Clients add their own headers (OpenAI's: x-stainless-…), which are ignored and therefore allowed.
std::string allowed_headers(const HttpRequest& request) {
  const std::string_view wanted = request.header("access-control-request-headers");
  const auto is_of_names = [](char letter) {
    return core::is_ascii_letter(letter) || core::is_ascii_digit(letter) || letter == '-' || letter == '_' ||
           letter == ',' || letter == ' ';
  };
  if (wanted.empty() || wanted.size() > kWantedHeadersMax || !std::ranges::all_of(wanted, is_of_names)) {
    return std::string(kRequestHeaders);
  }
  return std::string(wanted);
}

}  // namespace

void Server::State::observe(const RequestRecord& record) {
  service->metrics().observe(record);
  if (logs_requests.load(std::memory_order_relaxed)) log.write(record);
  if (traces != nullptr) traces->add(record);
}

// Fills in what the head of a request says.
void Server::State::begin_record(RequestRecord& record, const HttpRequest& request, const Router::Match& match) {
  const std::string_view id = request.header("x-request-id");
  record.id = is_request_id(id) ? std::string(id) : new_request_id();
  record.trace = trace_context_of(request.header("traceparent"));
  record.path = request.path;
  record.route = match.path;
  if (match.route != nullptr) record.protocol = match.protocol->name;
}

void Server::State::add_origin(const HttpRequest& request, HttpResponse& response) const {
  if (!access.has_origins()) return;
  response.set("Vary", "Origin");
  if (auto origin = access.allowed_origin(request.header("origin")); !origin.empty()) {
    response.set("Access-Control-Allow-Origin", std::move(origin));
    response.set("Access-Control-Expose-Headers", std::string(kAnswerHeaders));
  }
}

// Adds the common headers, and reports to metrics, log and traces.
void Server::State::before_answer(const Exchange& exchange, HttpResponse& response) {
  deadlines.forget(exchange);
  const RequestRecord& record = exchange.record();
  response.set("x-request-id", record.id);
  if (service->has_models()) {
    std::string device = record.device;
    std::string precision = record.precision;
    bool fallback = record.fallback;
    if (device.empty()) {
      const auto model = service->find(record.model);
      const ServedModel& asked =
          std::holds_alternative<Refusal>(model) ? *service->models().front() : *std::get<const ServedModel*>(model);
      const auto attested = asked.attestation();
      device = attested->active.id();
      precision = core::word_of(attested->active.precision);
      fallback = attested->fallback;
    }
    response.set("x-latebind-device", std::move(device));
    response.set("x-latebind-precision", std::move(precision));
    response.set("x-latebind-fallback", fallback ? "true" : "false");
    if (record.truncated_texts > 0 && response.status == 200) {
      response.set("x-latebind-truncated-texts", std::to_string(record.truncated_texts));
    }
  }
  add_origin(exchange.request(), response);
  observe(record);
}

// Answers a request that did not become an exchange, in the form of the requested protocol if that is known.
HttpResponse Server::State::refuse_early(const Refusal& refusal, std::optional<unsigned> status,
                                         const HttpRequest* head) {
  Router::Match match;
  RequestRecord record;
  record.arrived = record.answered = steady_clock::now();
  record.arrived_at = std::chrono::system_clock::now();
  if (head != nullptr) {
    match = router.find(head->method, head->segments);
    begin_record(record, *head, match);
    record.method = head->method;
    record.arrived = head->arrived;
    record.arrived_at = head->arrived_at;
  } else {
    record.id = new_request_id();
  }
  HttpResponse response = (match.protocol != nullptr ? *match.protocol : own_protocol()).refuse(refusal);
  if (status) response.status = *status;
  add_rest_of(refusal, response);
  response.set("x-request-id", record.id);
  if (head != nullptr) add_origin(*head, response);
  record.status = response.status;
  record.refusal = word_of(refusal.kind);
  observe(record);
  return response;
}

Refusal Server::State::unauthorized(std::string_view why) {
  return {.kind = RefusalKind::kUnauthorized, .message = std::string(why), .param = {}};
}

// Reads large bodies only from clients with a valid key. An unknown path is refused after its body has been read, as
// for a small body.
std::optional<HttpResponse> Server::State::screen(const HttpRequest& head) {
  const Router::Match match = router.find(head.method, head.segments);
  if (match.route == nullptr || match.route->is_open) return std::nullopt;
  const auto why = access.why_not(head);
  if (!why) return std::nullopt;
  return refuse_early(unauthorized(*why), std::nullopt, &head);
}

void Server::State::preflight(const ExchangePtr& exchange, const Router::Match& match) const {
  HttpResponse response;
  response.status = match.allowed.empty() && exchange->request().path != "*" ? 404 : 204;
  response.content_type.clear();
  if (!match.allowed.empty()) response.set("Allow", match.allowed + ", OPTIONS");
  if (!access.allowed_origin(exchange->request().header("origin")).empty()) {
    response.set("Access-Control-Allow-Methods", match.allowed);
    response.set("Access-Control-Allow-Headers", allowed_headers(exchange->request()));
    response.set("Access-Control-Max-Age", "600");
  }
  exchange->answer(std::move(response));
}

Result<milliseconds> Server::State::time_of(const HttpRequest& request) const {
  const milliseconds most = options.settings.request_timeout;
  const std::string_view given = request.header("x-request-timeout-ms");
  if (given.empty()) return most;
  std::int64_t wanted = 0;
  const auto [stop, error] = std::from_chars(given.data(), given.data() + given.size(), wanted);
  if (error != std::errc() || stop != given.data() + given.size() || wanted < 1) {
    return Status(StatusCode::kInvalidArgument, "x-request-timeout-ms must be a whole number of milliseconds above 0");
  }
  return std::min(most, milliseconds(std::min<std::int64_t>(wanted, most.count())));
}

void Server::State::handle(const ExchangePtr& exchange) {
  const HttpRequest& request = exchange->request();
  exchange->before_answer(
      [this](const Exchange& answered, HttpResponse& response) { before_answer(answered, response); });
  const Router::Match match = router.find(request.method, request.segments);
  exchange->note([&](RequestRecord& record) { begin_record(record, request, match); });
  if (request.method == "OPTIONS") return preflight(exchange, match);
  if (match.route == nullptr) {
    const Refusal refusal = Router::refusal_of(match, request.method, request.path);
    HttpResponse response = match.protocol->refuse(refusal);
    if (!match.path.empty()) response.set("Allow", match.allowed + ", OPTIONS");
    return exchange->answer(std::move(response), word_of(refusal.kind));
  }
  if (!match.route->is_open) {
    if (const auto why = access.why_not(request)) return refuse(*exchange, *match.protocol, unauthorized(*why));
    if (!service->has_models()) {
      return refuse(
          *exchange, *match.protocol,
          {.kind = RefusalKind::kNotReady, .message = "the models are still loading", .param = {}, .retry_after_s = 1});
    }
    const auto time = time_of(request);
    if (!time.ok()) {
      return refuse(*exchange, *match.protocol,
                    {.kind = RefusalKind::kBadRequest,
                     .message = std::string(time.status().message()),
                     .param = "x-request-timeout-ms"});
    }
    deadlines.add(exchange, request.arrived + *time, *match.protocol);
    http->wake_by(request.arrived + *time);
  }
  route(exchange, match);
}

void Server::State::route(const ExchangePtr& exchange, const Router::Match& match) {
  const auto call = [this](const ExchangePtr& of, const Router::Match& to) {
    try {
      to.route->handle(of, to.values, *service);
    } catch (const std::bad_alloc&) {
      refuse(*of, *to.protocol,
             {.kind = RefusalKind::kOverloaded,
              .message = "not enough memory for the request",
              .param = {},
              .retry_after_s = 1});
    } catch (const std::exception& failure) {
      refuse(*of, *to.protocol, {.kind = RefusalKind::kInternal, .message = failure.what(), .param = {}});
    }
  };
  if (exchange->request().body.size() <= kLargeBody) return call(exchange, match);
  http->post_large([call, exchange, match] {
    // The client may have left, or the deadline passed, while other requests ran.
    if (!exchange->gone().is_requested() && !exchange->is_answered()) call(exchange, match);
  });
}

}  // namespace latebind::server
