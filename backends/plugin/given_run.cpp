#include "backends/plugin/given_run.h"

#include <algorithm>
#include <chrono>

namespace latebind::plugin {
namespace {

// Returns the time as the contract has it; 0 without one.
std::int64_t deadline_of(const core::RunOptions& options) {
  if (!options.deadline) return 0;
  const auto time = options.deadline->time_since_epoch();
  return std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

}  // namespace

void GivenRun::limit(const core::RunOptions& options) {
  cancellation_ = options.cancellation;
  nobody_waits_ = options.nobody_waits;
  given_.run.deadline_ns = deadline_of(options);
  given_.run.side_by_side = std::max<std::size_t>(1, options.side_by_side);
  const bool can_end = options.is_bounded() || nobody_waits_.can_be_requested();
  given_.run.is_cancelled = can_end ? is_cancelled : nullptr;
}

std::int32_t GivenRun::is_cancelled(const lbb_run* run) {
  static_assert(offsetof(Given, run) == 0);
  const GivenRun& of = *reinterpret_cast<const Given*>(run)->of;
  const bool is_over = of.is_given_up_.load(std::memory_order_relaxed) || of.cancellation_.is_requested() ||
                       of.nobody_waits_.is_requested();
  return is_over ? 1 : 0;
}

}  // namespace latebind::plugin
