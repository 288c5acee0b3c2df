#include "server/observe/metrics.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "core/threads/mutex.h"
#include "server/observe/counts.h"
#include "server/observe/recent_window.h"

namespace latebind::server {

struct Metrics::State {
  // The latest batches of a model.
  struct LastBatches {
    std::array<BatchSeen, kRecentBatchesMax> batches{};
    std::uint64_t number = 0;
  };

  core::Mutex mutex;
  Counts counts LB_GUARDED_BY(mutex);
  Series<LastBatches, 1> last_batches LB_GUARDED_BY(mutex);
  std::size_t room_for_last_batches LB_GUARDED_BY(mutex) = kModelsWithBatchesMax;
  RecentWindow recent LB_GUARDED_BY(mutex){std::chrono::steady_clock::now()};
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

void Metrics::observe(const RequestRecord& record) noexcept {
  const auto now = std::chrono::steady_clock::now();
  try {
    const core::MutexLock lock(state_->mutex);
    if (record.is_embedding && is_answered(record)) {
      state_->recent.add_request(now, record.answered - record.arrived);
    }
    state_->counts.add(record);
  } catch (...) {
    // Without memory for a new series, its counts are lost.
  }
}

void Metrics::observe(std::string_view model, const BatchRecord& batch) noexcept {
  const auto now = std::chrono::steady_clock::now();
  try {
    const core::MutexLock lock(state_->mutex);
    state_->recent.add_batch(now, batch);
    state_->counts.add(model, batch);
    State::LastBatches& last = one_of(state_->last_batches, {model}, state_->room_for_last_batches);
    last.batches[last.number % kRecentBatchesMax] = {last.number + 1, batch};
    ++last.number;
  } catch (...) {
    // As above.
  }
}

std::string Metrics::render(const ServerGauges& gauges) const {
  const auto now = std::chrono::steady_clock::now();
  Counts counts;
  double padding_ratio = 0;
  {
    // Copied, so that no thread waits while the text is rendered.
    const core::MutexLock lock(state_->mutex);
    counts = state_->counts;
    padding_ratio = state_->recent.figures(now).padding_ratio;
  }
  return metrics_text(counts, padding_ratio, gauges);
}

Totals Metrics::totals() const {
  const core::MutexLock lock(state_->mutex);
  return state_->counts.totals;
}

Totals Metrics::totals_of(std::string_view model) const {
  const core::MutexLock lock(state_->mutex);
  Totals totals;
  const auto found = state_->counts.models.find(std::array{model});
  if (found == state_->counts.models.end()) return totals;
  const ModelCounts& counts = found->second;
  totals.texts = counts.texts;
  totals.tokens = counts.tokens;
  totals.fallback_texts = counts.fallback_texts;
  totals.batches = counts.batches;
  totals.batch_tokens = counts.computed_tokens;
  totals.padded_tokens = counts.padded_tokens;
  return totals;
}

RecentFigures Metrics::recent() const {
  const auto now = std::chrono::steady_clock::now();
  const core::MutexLock lock(state_->mutex);
  return state_->recent.figures(now);
}

std::vector<BatchSeen> Metrics::recent_batches(std::string_view model) const {
  const core::MutexLock lock(state_->mutex);
  const auto found = state_->last_batches.find(std::array{model});
  if (found == state_->last_batches.end()) return {};
  const State::LastBatches& last = found->second;
  const std::uint64_t count = std::min<std::uint64_t>(last.number, kRecentBatchesMax);
  std::vector<BatchSeen> batches;
  batches.reserve(count);
  for (std::uint64_t number = last.number - count; number < last.number; ++number)
    batches.push_back(last.batches[number % kRecentBatchesMax]);
  return batches;
}

}  // namespace latebind::server
