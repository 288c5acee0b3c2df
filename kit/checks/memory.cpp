// The group "memory": what a backend takes for good, and how it lasts.
#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "core/platform/freed_memory.h"
#include "core/platform/system_info.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/graph_model.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;

// Loads the sample, runs it and destroys it.
Status load_and_run(core::Backend& backend, const core::Device& device, const Sample& sample, std::mt19937& chance) {
  core::CompileOptions options;
  options.precision = default_precision(device);
  LB_ASSIGN_OR_RETURN(const auto executable, backend.load(model_of(sample.graph), device.name, options));
  for (const std::int64_t rows : {3, 40, 1})
    LB_RETURN_IF_ERROR(run_sample(*executable, sample, chance, rows));
  return {};
}

std::uint64_t settled_bytes() {
  platform::return_freed_memory();
  return platform::resident_bytes();
}

Result<Finding> give_memory_back(Context& context) {
  constexpr int kWarm = 30;
  constexpr int kTimes = 150;
  constexpr std::uint64_t kGrowthMax = std::uint64_t{4} << 20;
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  std::mt19937 chance(context.options().seed);
  context.step("loading and running many times");
  for (int i = 0; i < kWarm; ++i)
    LB_RETURN_IF_ERROR(load_and_run(*backend, device, loaded.sample, chance));
  const std::uint64_t before = settled_bytes();
  for (int i = 0; i < kTimes; ++i)
    LB_RETURN_IF_ERROR(load_and_run(*backend, device, loaded.sample, chance));
  const std::uint64_t after = settled_bytes();
  const std::uint64_t growth = after > before ? after - before : 0;
  if (growth > kGrowthMax)
    return wrong(fmt::format("the process grows by {} KiB while a model is loaded, run and destroyed {} times",
                             growth >> 10U, kTimes));
  return passed(fmt::format("{} KiB more after {} times", growth >> 10U, kTimes));
}

Result<Finding> last(Context& context) {
  const std::chrono::seconds time = context.options().soak;
  if (time.count() == 0) return absent("only with --soak");
  constexpr std::uint64_t kGrowthMax = std::uint64_t{32} << 20;
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  context.step("the soak");
  const auto end = std::chrono::steady_clock::now() + time;
  std::atomic<std::size_t> times{0};
  std::atomic<std::uint64_t> before{0};
  const Status together = on_threads(4, [&](std::size_t thread) -> Status {
    std::mt19937 chance(context.options().seed + static_cast<std::uint32_t>(thread));
    const auto warm = std::chrono::steady_clock::now() + time / 4;
    while (std::chrono::steady_clock::now() < end) {
      LB_RETURN_IF_ERROR(load_and_run(*backend, device, loaded.sample, chance));
      for (int i = 0; i < 10; ++i)
        LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, 1 + i * 3));
      ++times;
      if (thread == 0 && before == 0 && std::chrono::steady_clock::now() > warm) before = settled_bytes();
    }
    return {};
  });
  LB_RETURN_IF_ERROR(together);
  const std::uint64_t after = settled_bytes();
  const std::uint64_t growth = before != 0 && after > before ? after - before : 0;
  if (growth > kGrowthMax) return wrong(fmt::format("the process grows by {} KiB in the soak", growth >> 10U));
  return passed(fmt::format("{} loads and {} runs, {} KiB more at the end", times.load(), 13 * times, growth >> 10U));
}

constexpr Check kMemoryChecks[] = {
    {.name = "memory.growth",
     .what = "Loading, running and destroying a model many times takes no memory for good.",
     .run = give_memory_back,
     .time = std::chrono::seconds(300)},
    {.name = "memory.soak",
     .what = "Four threads load and run for as long as --soak says, with right results and bounded memory.",
     .run = last,
     .time = std::chrono::seconds(120)}};

}  // namespace

std::span<const Check> memory_checks() {
  return kMemoryChecks;
}

}  // namespace latebind::kit
