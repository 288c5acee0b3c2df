// Metrics counts everything that is served and renders it for Prometheus.
//
// Metrics with the same meaning as in text-embeddings-inference have its names (te_request_count …), the others are
// latebind_…. Label values come from fixed lists (protocols, routes, statuses, served models, devices of the
// placement), so that clients cannot add series. Beyond kSeriesMax, further series are counted under the label "other".
//
// Thread-safe. Observing a record takes well below 10 microseconds and does not allocate once its series exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/observe/records.h"

namespace latebind::server {

// Values that are read when the metrics are rendered.
struct ModelGauges {
  std::string model{};
  std::string device{};  // the device that would answer now
  std::string precision{};
  bool fallback = false;
  bool breaker_open = false;  // a preferred device is out of service
  std::uint64_t waiting_texts = 0;
  std::uint64_t waiting_tokens = 0;
  std::uint64_t waiting_runs = 0;  // for a model that takes tensors
  std::uint64_t running_batches = 0;
  std::uint64_t running_tokens = 0;  // in their texts
  double load_seconds = 0;           // including compilation or import
  bool from_cache = false;
};

struct ServerGauges {
  std::vector<ModelGauges> models{};
  std::uint64_t connections = 0;
  std::uint64_t held_bytes = 0;
  std::uint64_t held_bytes_max = 0;
  std::uint64_t requests_in_flight = 0;
  std::uint64_t resident_bytes = 0;
  double uptime_seconds = 0;
  bool ready = false;
  std::string version{};
};

// Figures for the status document.
struct RecentFigures {
  // Over the last seconds: requests for vectors that were answered, and everything computed, even if the client has
  // left.
  double requests_per_s = 0;
  double texts_per_s = 0;
  double tokens_per_s = 0;
  // Over the last minute; latencies are those of the answered requests.
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double padding_ratio = 0;  // the padded part of the computed tokens: 0 to 1
};

struct BatchSeen {
  std::uint64_t number = 0;  // counts all batches of the model
  BatchRecord batch{};
};

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;   // status 500 and above
  std::uint64_t refused = 0;  // status 400 to 499
  std::uint64_t texts = 0;    // answered with a vector
  std::uint64_t tokens = 0;   // in these texts
  std::uint64_t fallback_texts = 0;
  std::uint64_t batches = 0;
  std::uint64_t batch_tokens = 0;   // computed, including padding
  std::uint64_t padded_tokens = 0;  // the padding among them
};

class Metrics {
 public:
  static constexpr std::size_t kSeriesMax = 512;  // series counted by label
  static constexpr std::size_t kRecentBatchesMax = 64;
  static constexpr std::size_t kModelsWithBatchesMax = 64;  // further models share one list, "other"

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void observe(const RequestRecord& record) noexcept;
  void observe(std::string_view model, const BatchRecord& batch) noexcept;

  // Prometheus text format 0.0.4.
  [[nodiscard]] std::string render(const ServerGauges& gauges) const;

  [[nodiscard]] Totals totals() const;
  // The totals of one model, without `requests`, since a request has no model until it has been read.
  [[nodiscard]] Totals totals_of(std::string_view model) const;
  [[nodiscard]] RecentFigures recent() const;
  // The latest batches, oldest first, at most kRecentBatchesMax.
  [[nodiscard]] std::vector<BatchSeen> recent_batches(std::string_view model) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace latebind::server
