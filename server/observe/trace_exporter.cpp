#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "core/http/http_client.h"
#include "core/log.h"
#include "core/text/counted.h"
#include "core/text/quote.h"
#include "server/observe/otlp_endpoint.h"
#include "server/observe/traces.h"

namespace latebind::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kPostRecordsMax = 256;
constexpr std::chrono::milliseconds kGatherTime{1'000};
constexpr std::chrono::milliseconds kPostTimeMax{2'000};
constexpr std::chrono::milliseconds kEndTimeMax{1'000};
// How long the end waits for a post that is cancelled.
constexpr std::chrono::milliseconds kLeaveTimeMax{150};
constexpr std::chrono::minutes kLogPause{1};

}  // namespace

struct TraceExporter::State {
  State(OtlpEndpoint given, core::HttpClient client, std::string version)
      : endpoint(std::move(given)), service_version(std::move(version)), http(std::move(client)) {}

  const OtlpEndpoint endpoint;
  const std::string service_version;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> dropped{0};
  // When to give up, once the exporter ends; on the clock.
  std::atomic<SteadyClock::rep> end_by{SteadyClock::time_point::max().time_since_epoch().count()};

  // Used only by the exporter's thread.
  core::HttpClient http;
  std::optional<SteadyClock::time_point> logged_at;

  [[nodiscard]] bool is_time_up() const {
    return SteadyClock::now().time_since_epoch().count() >= end_by.load(std::memory_order_relaxed);
  }

  // Returns "" for a 2xx answer, otherwise the error.
  [[nodiscard]] std::string post(std::string_view content) {
    core::HttpRequest request;
    request.method = core::HttpMethod::kPost;
    request.url = endpoint.url;
    request.headers = {"Content-Type: application/json"};
    request.content = content;
    request.whole_timeout = kPostTimeMax;
    request.uses_proxy = !endpoint.is_loopback;
    request.is_cancelled = [this] { return is_time_up(); };
    const core::HttpOutcome outcome = http.exchange(request, {});
    if (!outcome.status.ok()) return outcome.status.to_string();
    const int status = outcome.answer.status;
    return status >= 200 && status < 300 ? std::string() : fmt::format("it answered with status {}", status);
  }

  void send(const std::vector<RequestRecord>& records) {
    std::string failure;
    try {
      failure = post(otlp_json(records.data(), records.size(), service_version));
    } catch (const std::exception& exception) {
      failure = exception.what();
    }
    if (failure.empty()) {
      sent += records.size();
      return;
    }
    dropped += records.size();
    const auto now = SteadyClock::now();
    if (logged_at && now < *logged_at + kLogPause) return;
    logged_at = now;
    core::log(core::LogLevel::kWarning, fmt::format("cannot send traces to {}: {}; the traces of {} are lost so far",
                                                    endpoint.url, failure, core::counted(dropped.load(), "request")));
  }

  void handle(const std::vector<RequestRecord>& records) noexcept {
    if (is_time_up()) {
      dropped += records.size();
      return;
    }
    try {
      send(records);
    } catch (...) {
      // Without memory the loss is not reported.
    }
  }
};

namespace {

core::Result<OtlpEndpoint> endpoint_of(const std::string& endpoint) {
  if (auto parsed = otlp_endpoint_of(endpoint)) return *std::move(parsed);
  return core::Status(
      core::StatusCode::kInvalidArgument,
      fmt::format("{} is not an endpoint for traces: give http://HOST:PORT or http://HOST:PORT/PATH, or https://",
                  core::quoted(endpoint)));
}

}  // namespace

core::Status TraceExporter::check(const std::string& endpoint) {
  return endpoint_of(endpoint).status();
}

core::Result<std::unique_ptr<TraceExporter>> TraceExporter::create(const std::string& endpoint,
                                                                   std::string service_version) {
  LB_ASSIGN_OR_RETURN(auto parsed, endpoint_of(endpoint));
  try {
    LB_ASSIGN_OR_RETURN(auto http, core::HttpClient::make({.authorities = core::authorities_of_environment(),
                                                           .purpose = "sending traces (--otlp-endpoint)",
                                                           .alternative = "leave out --otlp-endpoint",
                                                           .address_setting = "--otlp-endpoint"}));
    auto state = std::make_shared<State>(std::move(parsed), std::move(http), std::move(service_version));
    return std::unique_ptr<TraceExporter>(new TraceExporter(std::move(state)));
  } catch (...) {
    return core::Status::out_of_memory();
  }
}

TraceExporter::TraceExporter(std::shared_ptr<State> state)
    : state_(std::move(state)),
      worker_({.waiting_max = kWaitingMax, .batch_max = kPostRecordsMax, .gather = kGatherTime},
              [shared = state_](std::vector<RequestRecord>& records) { shared->handle(records); }) {}

TraceExporter::~TraceExporter() {
  state_->end_by = (SteadyClock::now() + kEndTimeMax).time_since_epoch().count();
  // Resolving a host name cannot be interrupted; the thread is left behind then.
  (void)worker_.end(kEndTimeMax + kLeaveTimeMax);
}

void TraceExporter::add(const RequestRecord& record) noexcept {
  if (!record.trace.sampled) return;
  try {
    RequestRecord copy = record;
    if (worker_.add(copy) == core::BoundedWorker<RequestRecord>::Added::kYes) return;
  } catch (...) {
    // Counted as dropped.
  }
  ++state_->dropped;
}

std::uint64_t TraceExporter::sent() const {
  return state_->sent;
}

std::uint64_t TraceExporter::dropped() const {
  return state_->dropped;
}

}  // namespace latebind::server
