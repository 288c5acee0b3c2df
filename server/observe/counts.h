// Counts is the state of Metrics: everything counted until it is rendered. No synchronisation; the owner provides it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "server/observe/metrics.h"
#include "server/observe/prometheus_text.h"
#include "server/observe/records.h"

namespace latebind::server {

// Upper bounds of histograms.
inline constexpr std::array kSecondsBounds{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                           0.2,    0.5,   1.0,   2.0,   5.0,  10.0, 20.0, 60.0};
inline constexpr std::array kBatchTextsBounds{1.0,  2.0,   4.0,   8.0,   16.0,   32.0,
                                              64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0};
inline constexpr std::array kTextTokensBounds{1.0,   2.0,   4.0,    8.0,    16.0,   32.0,   64.0,    128.0,
                                              256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0};
inline constexpr std::array kBatchTokensBounds{16.0,   32.0,   64.0,   128.0,   256.0,   512.0,  1024.0,
                                               2048.0, 4096.0, 8192.0, 16384.0, 32768.0, 65536.0};

// Counts by the values of N labels. A lookup does not allocate.
struct LabelsLess {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](std::string_view x, std::string_view y) { return x < y; });
  }
};
template <class T, std::size_t N>
using Series = std::map<std::array<std::string, N>, T, LabelsLess>;

inline constexpr std::string_view kOtherLabel = "other";

// Returns the element for these labels, creating it if there is room for `size` more series; otherwise the shared
// element "other".
template <class T, std::size_t N>
T& one_of(Series<T, N>& series, std::array<std::string_view, N> labels, std::size_t& room, std::size_t size = 1) {
  auto found = series.find(labels);
  if (found == series.end() && room < size) {
    labels.fill(kOtherLabel);
    size = 0;
    found = series.find(labels);
  }
  if (found == series.end()) {
    std::array<std::string, N> key;
    std::copy(labels.begin(), labels.end(), key.begin());
    found = series.try_emplace(std::move(key)).first;
    room -= size;
  }
  return found->second;
}

struct ModelCounts {
  std::uint64_t texts = 0;
  std::uint64_t tokens = 0;
  std::uint64_t fallback_texts = 0;
  std::uint64_t truncated_texts = 0;
  std::uint64_t batches = 0;
  std::uint64_t computed_tokens = 0;
  std::uint64_t padded_tokens = 0;
};
inline constexpr std::size_t kSeriesOfModel = 7;

struct StepTimes {
  Histogram whole{kSecondsBounds};
  Histogram tokenizing{kSecondsBounds};
  Histogram waiting{kSecondsBounds};
  Histogram computing{kSecondsBounds};
};

struct Counts {
  std::size_t room = Metrics::kSeriesMax;
  Series<std::uint64_t, 3> requests;  // protocol, route, status
  Series<std::uint64_t, 1> request_failures;
  Series<ModelCounts, 1> models;
  std::uint64_t single_requests = 0;
  std::uint64_t batch_requests = 0;
  std::uint64_t single_successes = 0;
  std::uint64_t batch_successes = 0;
  std::uint64_t embeds = 0;
  std::uint64_t embed_successes = 0;
  std::uint64_t clients_gone = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  StepTimes request_times;
  StepTimes embed_times;
  Histogram input_length{kTextTokensBounds};
  Histogram batch_texts{kBatchTextsBounds};
  Histogram batch_tokens{kBatchTokensBounds};
  Histogram batch_time{kSecondsBounds};
  Totals totals;

  // Both throw std::bad_alloc if memory for a new series is missing. That series is then not counted, but the rest is.
  void add(const RequestRecord& record);
  void add(std::string_view model, const BatchRecord& batch);
};

// Whether the client received what it asked for.
[[nodiscard]] inline bool is_answered(const RequestRecord& record) {
  return record.status >= 200 && record.status < 300 && !record.client_gone;
}

// Renders the counts in Prometheus' text format.
[[nodiscard]] std::string metrics_text(const Counts& counts, double padding_ratio, const ServerGauges& gauges);

}  // namespace latebind::server
