#include "server/observe/recent_window.h"

#include <algorithm>
#include <cmath>

namespace latebind::server {
namespace {

constexpr double kLeastMs = 0.01;
constexpr double kGrowth = 1.08;

std::size_t bucket_of(double ms, std::size_t buckets) {
  if (!(ms > kLeastMs)) return 0;
  static const double per_bucket = std::log(kGrowth);
  return std::min(buckets - 1, static_cast<std::size_t>(std::log(ms / kLeastMs) / per_bucket));
}

// The geometric middle of a bucket.
double value_of(std::size_t bucket) {
  return kLeastMs * std::pow(kGrowth, static_cast<double>(bucket) + 0.5);
}

}  // namespace

std::int64_t RecentWindow::second_of(Clock::time_point now) const {
  return std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(now - start_).count());
}

RecentWindow::Slot& RecentWindow::slot_of(Clock::time_point now) noexcept {
  // Threads read the clock before they arrive here in some order; a second that is over is not reopened.
  newest_ = std::max(newest_, second_of(now));
  Slot& slot = slots_[static_cast<std::size_t>(newest_ % kSeconds)];
  if (slot.second != newest_) {
    slot = Slot();
    slot.second = newest_;
  }
  return slot;
}

void RecentWindow::add_request(Clock::time_point now, Clock::duration latency) noexcept {
  Slot& slot = slot_of(now);
  ++slot.requests;
  ++slot.latencies[bucket_of(std::chrono::duration<double, std::milli>(latency).count(), kBuckets)];
}

void RecentWindow::add_batch(Clock::time_point now, const BatchRecord& batch) noexcept {
  Slot& slot = slot_of(now);
  slot.texts += batch.texts;
  slot.tokens += batch.tokens;
  slot.computed_tokens += batch.computed_tokens;
  slot.padded_tokens += padded_tokens(batch);
}

RecentFigures RecentWindow::figures(Clock::time_point now) const {
  const std::int64_t second = std::max(newest_, second_of(now));
  Slot sum;     // over the last minute
  Slot latest;  // over the last seconds
  std::array<std::uint64_t, kBuckets> latencies{};
  for (const Slot& slot : slots_) {
    if (slot.second < 0 || slot.second <= second - kSeconds) continue;
    if (slot.second > second - kRateSeconds) {
      latest.requests += slot.requests;
      latest.texts += slot.texts;
      latest.tokens += slot.tokens;
    }
    sum.requests += slot.requests;
    sum.computed_tokens += slot.computed_tokens;
    sum.padded_tokens += slot.padded_tokens;
    for (std::size_t i = 0; i < kBuckets; ++i)
      latencies[i] += slot.latencies[i];
  }

  // The current second counts in proportion to the part that has passed.
  const double passed = std::max(std::chrono::duration<double>(now - start_).count(), static_cast<double>(second));
  const double begun = passed - static_cast<double>(second);
  const double seconds = std::max(1.0, std::min(passed, static_cast<double>(kRateSeconds - 1) + std::min(begun, 1.0)));

  const auto percentile = [&](double part) {
    const auto rank = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(sum.requests)));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      seen += latencies[i];
      if (seen >= rank) return value_of(i);
    }
    return value_of(kBuckets - 1);
  };

  RecentFigures figures;
  figures.requests_per_s = static_cast<double>(latest.requests) / seconds;
  figures.texts_per_s = static_cast<double>(latest.texts) / seconds;
  figures.tokens_per_s = static_cast<double>(latest.tokens) / seconds;
  if (sum.requests > 0) {
    figures.p50_ms = percentile(0.50);
    figures.p95_ms = percentile(0.95);
    figures.p99_ms = percentile(0.99);
  }
  if (sum.computed_tokens > 0) {
    figures.padding_ratio = static_cast<double>(sum.padded_tokens) / static_cast<double>(sum.computed_tokens);
  }
  return figures;
}

}  // namespace latebind::server
