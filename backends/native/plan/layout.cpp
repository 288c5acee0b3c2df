#include "backends/native/plan/layout.h"

#include "backends/native/plan/access.h"

namespace latebind::native {
namespace {

// By slot, whether attention, the pooling or what comes behind it has a part in it, or a step reads what one before the
// last attention wrote.
std::vector<bool> find_passing(const Plan& plan) {
  std::vector<bool> passes(plan.widths.size());
  std::vector<bool> is_written(plan.widths.size());  // since the last attention
  passes[plan.result] = true;
  if (plan.pooling) passes[plan.pooling->x] = passes[plan.pooling->y] = true;
  for (const Step& step : plan.text_steps) {
    const Access access = access_of(step);
    for (const auto* slots : {&access.reads, &access.writes}) {
      for (const Slot slot : *slots)
        passes[slot] = true;
    }
  }
  for (const Step& step : plan.steps) {
    const Access access = access_of(step);
    for (const Slot slot : access.reads) {
      if (step.attends() || !is_written[slot]) passes[slot] = true;
    }
    for (const Slot slot : access.writes) {
      is_written[slot] = true;
      if (step.attends()) passes[slot] = true;
    }
    if (step.attends()) is_written.assign(is_written.size(), false);
  }
  return passes;
}

}  // namespace

// Rows are whole cache lines, and never a multiple of a page apart, whose lines would share few places in the cache.
void set_layout(Plan& plan) {
  constexpr std::size_t kLine = kAlignment / sizeof(float);
  const std::vector<bool> passes = find_passing(plan);
  Layout& layout = plan.layout;
  for (std::size_t slot = 0; slot < plan.widths.size(); ++slot) {
    const std::size_t stride = (plan.widths[slot] + kLine - 1) / kLine * kLine + kLine;
    std::size_t& before = passes[slot] ? layout.passing : layout.staying;
    layout.places.push_back({.stride = stride, .before = before, .passes = passes[slot]});
    before += stride;
  }
}

}  // namespace latebind::native
