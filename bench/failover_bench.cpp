// What it costs that a model may move to another device: on a run where all is well, and in the moment when it moves.
//
// Compare run_placed with run_direct (the breaker, less than a microsecond), and failover_warm with inference (what is
// above it must be less than one inference more); `least_us` is what neighbours on the machine did not disturb.
// failover_cold loads the standby first, which is the vendor's affair; here loading costs nothing, so that what is ours
// remains. The argument is the length of an inference in ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "core/failover/placed_model.h"

namespace {

using namespace latebind::core;  // NOLINT: the whole file is about it
using Clock = std::chrono::steady_clock;

// A batch of texts, as the embedding engine sends it: ids, mask and types.
constexpr std::int64_t kRows = 16;
constexpr std::int64_t kTokens = 128;

class Double final : public Executable {
 public:
  Double(std::string device, std::chrono::nanoseconds time, bool fails) : time_(time), fails_(fails) {
    active_.backend = "double";
    active_.device = std::move(device);
  }
  [[nodiscard]] std::span<const TensorInfo> inputs() const override { return {}; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const override { return {}; }
  [[nodiscard]] const ActiveConfig& active() const override { return active_; }
  [[nodiscard]] Status run(std::span<const TensorView>, std::span<OutputTensor>, const RunOptions&) override {
    if (fails_) return {StatusCode::kDeviceFailed, "the driver died"};
    if (time_.count() == 0) return {};
    const auto end = Clock::now() + time_;
    while (Clock::now() < end)
      ;
    return {};
  }

 private:
  const std::chrono::nanoseconds time_;
  const bool fails_;
  ActiveConfig active_;
};

std::shared_ptr<PlacedModel> placed(std::chrono::nanoseconds time, bool first_fails, bool warm) {
  const Registry none;
  std::vector<Placement::Candidate> candidates;
  for (const auto& [name, kind] : {std::pair{"NPU", DeviceKind::kNpu}, std::pair{"CPU", DeviceKind::kCpu}})
    candidates.push_back({Device{"double", name, kind, "a double", "1.0", {}}, {}});
  auto load = [=](const Device& device) -> Result<std::unique_ptr<Executable>> {
    return std::unique_ptr<Executable>(
        std::make_unique<Double>(device.name, time, first_fails && device.kind == DeviceKind::kNpu));
  };
  FailoverOptions options;
  options.warm_standby = warm;
  options.breaker.backoff_first = options.breaker.backoff_most = std::chrono::hours(1);
  return *PlacedModel::place("a model", *Placement::parse("auto", none), std::move(candidates), load, false, options);
}

struct Batch {
  std::vector<std::int64_t> ids = std::vector<std::int64_t>(kRows * kTokens, 1);
  std::vector<TensorView> inputs =
      std::vector<TensorView>(3, TensorView{ids.data(), ElementType::kI64, {kRows, kTokens}, {}});
};

void run_direct(benchmark::State& state) {
  static Double executable("NPU", {}, false);
  const Batch batch;
  for (auto _ : state) {
    auto status = static_cast<Executable&>(executable).execute(batch.inputs, {}, {});
    benchmark::DoNotOptimize(status);
  }
}
BENCHMARK(run_direct)->Threads(1)->Threads(8)->UseRealTime();

void run_placed(benchmark::State& state) {
  static const auto model = placed({}, false, false);
  const Batch batch;
  std::shared_ptr<const Attestation> answered_by;
  for (auto _ : state) {
    auto status = model->execute(batch.inputs, {}, {}, &answered_by);
    benchmark::DoNotOptimize(status);
  }
}
BENCHMARK(run_placed)->Threads(1)->Threads(8)->UseRealTime();

struct Least {
  double seconds = 1e9;
  void take(benchmark::State& state, Clock::duration time) {
    const double given = std::chrono::duration<double>(time).count();
    seconds = std::min(seconds, given);
    state.SetIterationTime(given);
    state.counters["least_us"] = seconds * 1e6;
  }
};

void inference(benchmark::State& state) {
  const auto model = placed(std::chrono::milliseconds(state.range(0)), false, false);
  const Batch batch;
  Least least;
  for (auto _ : state) {
    const auto start = Clock::now();
    auto status = model->execute(batch.inputs, {}, {});
    benchmark::DoNotOptimize(status);
    least.take(state, Clock::now() - start);
  }
}

// Each time a model of its own, whose first device fails at once.
void failover(benchmark::State& state, bool warm) {
  const Batch batch;
  Least least;
  for (auto _ : state) {
    const auto model = placed(std::chrono::milliseconds(state.range(0)), true, warm);
    // Long enough for the thread that loads the standby; an hour of probing is still ahead.
    if (warm) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto start = Clock::now();
    const auto status = model->execute(batch.inputs, {}, {});
    least.take(state, Clock::now() - start);
    if (!status.ok()) state.SkipWithError("the request was lost");
  }
}
void failover_warm(benchmark::State& state) {
  failover(state, true);
}
void failover_cold(benchmark::State& state) {
  failover(state, false);
}
BENCHMARK(inference)->Arg(2)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(200);
BENCHMARK(failover_warm)->Arg(0)->Arg(2)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(200);
BENCHMARK(failover_cold)->Arg(0)->Arg(2)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(200);

}  // namespace
