#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/text/counted.h"
#include "core/text/quote.h"
#include "server/observe/otlp_endpoint.h"
#include "server/observe/traces.h"

namespace latebind::server {
namespace {

namespace asio = boost::asio;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kPostRecordsMax = 256;
constexpr std::size_t kStatusLineMax = 1024;
constexpr std::chrono::milliseconds kGatherTime{1'000};
constexpr std::chrono::milliseconds kPostTimeMax{2'000};
constexpr std::chrono::milliseconds kEndTimeMax{1'000};
constexpr std::chrono::milliseconds kGlance{20};  // the interval at which a post checks its deadline
constexpr std::chrono::minutes kLogPause{1};

// Sends one POST on a new connection. `is_time_up` may become true at any moment. Returns "" for a 2xx answer,
// otherwise the error.
template <class IsTimeUp>
std::string post(const OtlpEndpoint& endpoint, std::string_view body, const IsTimeUp& is_time_up) {
  const std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: latebind\r\nContent-Type: application/json\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n",
      endpoint.path, endpoint.authority, body.size());
  std::string answer;
  std::optional<std::string> outcome;
  asio::io_context io;
  asio::ip::tcp::resolver resolver(io);
  asio::ip::tcp::socket socket(io);

  // Each step starts the next one.
  const auto failed = [&](const boost::system::error_code& error, std::string_view what) {
    if (error) outcome = fmt::format("{}: {}", what, error.message());
    return static_cast<bool>(error);
  };
  const auto on_status_line = [&](const boost::system::error_code& error, std::size_t) {
    if (failed(error, "it did not answer")) return;
    const std::string_view line = std::string_view(answer).substr(0, answer.find('\r'));
    const bool is_http = line.starts_with("HTTP/1.") && line.size() >= 12 && line[8] == ' ';
    const bool is_good = is_http && line[9] == '2';
    outcome = is_good ? "" : "it answered " + core::quoted(line);
  };
  const auto on_written = [&](const boost::system::error_code& error, std::size_t) {
    if (failed(error, "sending failed")) return;
    asio::async_read_until(socket, asio::dynamic_buffer(answer, kStatusLineMax), "\r\n", on_status_line);
  };
  const std::array request{asio::buffer(head), asio::buffer(body.data(), body.size())};
  const auto on_connected = [&](const boost::system::error_code& error, const asio::ip::tcp::endpoint&) {
    if (failed(error, "no connection")) return;
    asio::async_write(socket, request, on_written);
  };
  const auto on_found = [&](const boost::system::error_code& error,
                            const asio::ip::tcp::resolver::results_type& found) {
    if (failed(error, "its name has no address")) return;
    asio::async_connect(socket, found, on_connected);
  };
  resolver.async_resolve(endpoint.host, endpoint.port, on_found);
  while (!outcome && !is_time_up())
    io.run_one_for(kGlance);
  return outcome ? std::move(*outcome) : "it took too long";
}

}  // namespace

struct TraceExporter::State {
  State(OtlpEndpoint given, std::string version) : endpoint(std::move(given)), service_version(std::move(version)) {}

  const OtlpEndpoint endpoint;
  const std::string service_version;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> dropped{0};

  // When to give up, once the exporter ends; on the clock.
  std::atomic<SteadyClock::rep> end_by{SteadyClock::time_point::max().time_since_epoch().count()};

  // Used only by the exporter's thread.
  std::optional<SteadyClock::time_point> logged_at;

  [[nodiscard]] bool is_time_up(SteadyClock::time_point until) const {
    const auto now = SteadyClock::now();
    return now >= until || now.time_since_epoch().count() >= end_by.load(std::memory_order_relaxed);
  }

  void send(const std::vector<RequestRecord>& records) {
    const auto until = SteadyClock::now() + kPostTimeMax;
    std::string failure;
    try {
      failure =
          post(endpoint, otlp_json(records.data(), records.size(), service_version), [&] { return is_time_up(until); });
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
    core::log(core::LogLevel::kWarning,
              fmt::format("cannot send traces to http://{}{}: {}; the traces of {} are lost so far", endpoint.authority,
                          endpoint.path, failure, core::counted(dropped.load(), "request")));
  }

  void handle(const std::vector<RequestRecord>& records) noexcept {
    if (is_time_up(SteadyClock::time_point::max())) {
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
  if (endpoint.starts_with("https://")) {
    return core::Status(
        core::StatusCode::kUnsupported,
        fmt::format(
            "cannot send traces to {}: only http:// is supported; use a collector on this machine or in its network",
            core::quoted(endpoint)));
  }
  if (auto parsed = otlp_endpoint_of(endpoint)) return *std::move(parsed);
  return core::Status(core::StatusCode::kInvalidArgument,
                      fmt::format("{} is not an endpoint for traces: give http://HOST:PORT or http://HOST:PORT/PATH",
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
    auto state = std::make_shared<State>(std::move(parsed), std::move(service_version));
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
  (void)worker_.end(kEndTimeMax + 5 * kGlance);
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
