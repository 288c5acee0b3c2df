// Metrics: counters and histograms of everything that was served, as text for Prometheus.
//
// Names of text-embeddings-inference where they mean the same (te_request_count …), and Latebind's own (latebind_…).
// Labels take their values from fixed lists (protocols, routes of the table, statuses, served models, devices of the
// placement), so that no client can add a series. Should one come that makes them more than kSeriesMax, it is counted
// under the labels "other".
//
// Thread-safe. Observing a record takes well below 10 microseconds and allocates nothing once its series exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/observe/records.h"

namespace latebind::server {

// What is read at the moment of rendering.
struct ModelGauges {
  std::string model{};
  std::string device{};  // what would answer now
  std::string precision{};
  bool fallback = false;
  bool breaker_open = false;  // a device that is preferred rests
  std::uint64_t waiting_texts = 0;
  std::uint64_t waiting_tokens = 0;
  std::uint64_t waiting_runs = 0;  // of a model that takes tensors
  std::uint64_t running_batches = 0;
  std::uint64_t running_tokens = 0;  // of their texts
  double load_seconds = 0;           // compiling or importing included
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

// For the status document.
struct RecentFigures {
  // Of the last seconds: requests for vectors that were answered, and what was computed, whoever still waits for it.
  double requests_per_s = 0;
  double texts_per_s = 0;
  double tokens_per_s = 0;
  // Of the last minute; latencies are of those requests.
  double p50_ms = 0;
  double p95_ms = 0;
  double p99_ms = 0;
  double padding_ratio = 0;  // of the tokens computed, the part that was padding: 0 to 1
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
  std::uint64_t tokens = 0;   // of these texts
  std::uint64_t fallback_texts = 0;
  std::uint64_t batches = 0;
  std::uint64_t batch_tokens = 0;   // computed, padding included
  std::uint64_t padded_tokens = 0;  // of these, padding
};

class Metrics {
 public:
  static constexpr std::size_t kSeriesMax = 512;  // of what is counted by label
  static constexpr std::size_t kRecentBatchesMax = 64;
  static constexpr std::size_t kModelsWithBatchesMax = 64;  // others share one list, "other"

  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  void observe(const RequestRecord& record) noexcept;
  void observe(std::string_view model, const BatchRecord& batch) noexcept;

  // Prometheus text format 0.0.4.
  [[nodiscard]] std::string render(const ServerGauges& gauges) const;

  [[nodiscard]] Totals totals() const;
  // Of one model; without requests, which are nobody's before they are read.
  [[nodiscard]] Totals totals_of(std::string_view model) const;
  [[nodiscard]] RecentFigures recent() const;
  // The last ones, at most kRecentBatchesMax, oldest first.
  [[nodiscard]] std::vector<BatchSeen> recent_batches(std::string_view model) const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace latebind::server
