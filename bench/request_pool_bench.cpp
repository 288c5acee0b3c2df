// What taking a request from the pool and giving it back costs, alone and from several threads.
#include <benchmark/benchmark.h>

#include "core/vendor/request_pool.h"

namespace {

using Pool = latebind::core::RequestPool<int>;

Pool& pool() {
  static Pool shared(4, [] { return latebind::core::Result<int>(1); });
  return shared;
}

void checkout(benchmark::State& state) {
  for (auto _ : state) {
    auto lease = pool().checkout({});
    benchmark::DoNotOptimize(lease);
  }
}
BENCHMARK(checkout)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

}  // namespace
