// What planning a window of texts costs.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "embedding/schedule/batching.h"

namespace {

void plan_window(benchmark::State& state) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> length(3.0, 0.8);
  std::vector<std::uint32_t> lengths(static_cast<std::size_t>(state.range(0)));
  for (auto& value : lengths)
    value = static_cast<std::uint32_t>(std::clamp(length(random), 2.0, 256.0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(latebind::embedding::plan_batches(lengths, {.workers = 2}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(plan_window)->Arg(1)->Arg(64)->Arg(8192);

}  // namespace
