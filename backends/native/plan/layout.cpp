#include "backends/native/plan/layout.h"

#include "backends/native/plan/access.h"

namespace latebind::native {
namespace {

// Finds the slots that need a row for every token: those of pooling, of later steps and of steps that take all tokens,
// and those that a step reads although they were written before the last step that takes all.
std::vector<bool> find_full(const Plan& plan) {
  std::vector<bool> is_full(plan.widths.size());
  std::vector<bool> is_written(plan.widths.size());  // since the last step that takes all tokens
  for (const Plan::Result& result : plan.results)
    is_full[result.slot] = true;
  if (plan.pooling) is_full[plan.pooling->x] = is_full[plan.pooling->y] = true;
  for (const Step& step : plan.text_steps) {
    const Access access = access_of(step);
    for (const auto* slots : {&access.reads, &access.writes}) {
      for (const Slot slot : *slots)
        is_full[slot] = true;
    }
  }
  for (const Step& step : plan.steps) {
    const Access access = access_of(step);
    for (const Slot slot : access.reads) {
      if (step.takes_all() || !is_written[slot]) is_full[slot] = true;
    }
    for (const Slot slot : access.writes) {
      is_written[slot] = true;
      if (step.takes_all()) is_full[slot] = true;
    }
    if (step.takes_all()) is_written.assign(is_written.size(), false);
  }
  return is_full;
}

}  // namespace

// Rows are whole cache lines. They are never a multiple of a page apart, since such rows would compete for few places
// in the cache.
void set_layout(Plan& plan) {
  constexpr std::size_t kLine = kAlignment / sizeof(float);
  const std::vector<bool> is_full = find_full(plan);
  Layout& layout = plan.layout;
  for (std::size_t slot = 0; slot < plan.widths.size(); ++slot) {
    const std::size_t stride = (plan.widths[slot] + kLine - 1) / kLine * kLine + kLine;
    std::size_t& before = is_full[slot] ? layout.full : layout.block;
    layout.places.push_back({.stride = stride, .before = before, .is_full = is_full[slot]});
    before += stride;
  }
}

}  // namespace latebind::native
