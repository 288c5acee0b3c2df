#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/text/counted.h"
#include "core/text/quote.h"
#include "core/threads/mutex.h"
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

  core::Mutex mutex;
  core::Condition changed;
  std::deque<RequestRecord> waiting LB_GUARDED_BY(mutex);
  std::optional<SteadyClock::time_point> end_by LB_GUARDED_BY(mutex);  // set when the exporter ends
  bool is_over LB_GUARDED_BY(mutex) = false;

  // Used only by the exporter's thread.
  std::optional<SteadyClock::time_point> logged_at;

  [[nodiscard]] bool is_time_up(SteadyClock::time_point post_until) {
    const auto now = SteadyClock::now();
    const core::MutexLock lock(mutex);
    return now >= post_until || (end_by && now >= *end_by);
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

  void run() noexcept {
    const core::MutexLock lock(mutex);
    while (true) {
      changed.wait(mutex, [this]() LB_REQUIRES(mutex) { return end_by || !waiting.empty(); });
      changed.wait_for(mutex, kGatherTime,
                       [this]() LB_REQUIRES(mutex) { return end_by || waiting.size() >= kPostRecordsMax; });
      if (waiting.empty() || (end_by && SteadyClock::now() >= *end_by)) break;
      std::vector<RequestRecord> records;
      const std::size_t count = std::min(waiting.size(), kPostRecordsMax);
      try {
        records.assign(std::make_move_iterator(waiting.begin()),
                       std::make_move_iterator(waiting.begin() + static_cast<std::ptrdiff_t>(count)));
      } catch (const std::bad_alloc&) {
        dropped += count;
      }
      waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(count));
      const core::MutexUnlock unlocked(mutex);
      try {
        if (!records.empty()) send(records);
      } catch (...) {
        // Without memory the loss is not reported.
      }
    }
    dropped += waiting.size();
    waiting.clear();
    is_over = true;
    changed.notify_all();
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
    std::unique_ptr<TraceExporter> exporter(new TraceExporter(state));
    exporter->thread_ = platform::Thread([state] { state->run(); });
    return exporter;
  } catch (...) {
    return core::Status::out_of_memory();
  }
}

TraceExporter::TraceExporter(std::shared_ptr<State> state) : state_(std::move(state)) {}

TraceExporter::~TraceExporter() {
  if (!thread_.joinable()) return;
  bool is_over = false;
  {
    const core::MutexLock lock(state_->mutex);
    state_->end_by = SteadyClock::now() + kEndTimeMax;
    state_->changed.notify_all();
    is_over = state_->changed.wait_until(state_->mutex, *state_->end_by + 5 * kGlance,
                                         [this]() LB_REQUIRES(state_->mutex) { return state_->is_over; });
  }
  // Resolving a host name cannot be interrupted, in which case the thread is detached. Otherwise it is joined, because
  // a process that exits while a thread ends may crash.
  if (is_over) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void TraceExporter::add(const RequestRecord& record) noexcept {
  if (!record.trace.sampled) return;
  try {
    const core::MutexLock lock(state_->mutex);
    if (state_->waiting.size() < kWaitingMax) {
      state_->waiting.push_back(record);
      if (state_->waiting.size() == 1 || state_->waiting.size() == kPostRecordsMax) state_->changed.notify_all();
      return;
    }
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
