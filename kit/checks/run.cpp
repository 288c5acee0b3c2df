// The group "run": a plug-in's execute(), called as the contract allows.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "core/platform/thread.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// A sample that was loaded without Latebind's host.
struct RawSample {
  RawDevice device;
  Sample sample;
  std::unique_ptr<RawExecutable> executable;
};

Result<RawSample> load_raw_sample(Context& context) {
  LB_ASSIGN_OR_RETURN(RawDevice device, raw_device(context));
  LB_ASSIGN_OR_RETURN(Sample sample, raw_sample(context, device));
  context.step(fmt::format("load() of {}", sample.name));
  LB_ASSIGN_OR_RETURN(auto executable, device.load(sample.graph));
  context.step(fmt::format("execute() of {}", sample.name));
  return RawSample{std::move(device), std::move(sample), std::move(executable)};
}

Result<Finding> write_outputs_once(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawSample loaded, load_raw_sample(context));
  std::mt19937 chance(context.options().seed);
  constexpr std::int64_t kRows[] = {3, 1, 17, 2, 64, 1};
  for (const std::int64_t rows : kRows)
    LB_RETURN_IF_ERROR(run_raw(*loaded.executable, loaded.sample, chance, rows));
  return passed(fmt::format("{} runs", std::size(kRows)));
}

Result<Finding> live_without_memory(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawSample loaded, load_raw_sample(context));
  std::mt19937 chance(context.options().seed);
  context.step("execute() without memory for the output");
  const Status status = run_raw(*loaded.executable, loaded.sample, chance, 3, {.has_memory = false});
  if (status.code() != StatusCode::kBufferTooSmall)
    return wrong(fmt::format("execute() gives {} and not LBB_BUFFER_TOO_SMALL when an output gets no memory: {}",
                             core::name_of(status.code()), status.to_string()));
  context.step("execute() with memory again");
  LB_RETURN_IF_ERROR(run_raw(*loaded.executable, loaded.sample, chance, 3));
  return passed();
}

// A run that nobody waits for may end in these ways, and the next one computes.
Result<Finding> end_as(Context& context, const RawRun& how, StatusCode code) {
  LB_ASSIGN_OR_RETURN(const RawSample loaded, load_raw_sample(context));
  std::mt19937 chance(context.options().seed);
  const Status status = run_raw(*loaded.executable, loaded.sample, chance, 64, how);
  if (!status.ok() && status.code() != code)
    return wrong(fmt::format("execute() gives {}: {}", core::name_of(status.code()), status.to_string()));
  context.step("the run after it");
  LB_RETURN_IF_ERROR(run_raw(*loaded.executable, loaded.sample, chance, 3));
  return passed(status.ok() ? "runs are not stopped" : std::string(status.message()));
}

Result<Finding> end_when_cancelled(Context& context) {
  return end_as(context, {.is_cancelled = true}, StatusCode::kCancelled);
}

Result<Finding> end_at_the_deadline(Context& context) {
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  return end_as(context, {.deadline_ns = past.time_since_epoch() / std::chrono::nanoseconds(1)},
                StatusCode::kDeadlineExceeded);
}

Result<Finding> run_on_many_threads(Context& context) {
  constexpr unsigned kThreadsMax = 8;
  constexpr int kTimes = 20;
  LB_ASSIGN_OR_RETURN(const RawSample loaded, load_raw_sample(context));
  const unsigned threads = std::min(loaded.executable->active().config.requests, kThreadsMax);
  context.step(fmt::format("execute() on {} threads", threads));
  const Status together = on_threads(threads, [&](std::size_t thread) -> Status {
    std::mt19937 chance(context.options().seed + static_cast<std::uint32_t>(thread));
    for (int i = 0; i < kTimes; ++i) {
      LB_RETURN_IF_ERROR(run_raw(*loaded.executable, loaded.sample, chance, static_cast<std::int64_t>(thread) + 1,
                                 {.side_by_side = threads}));
    }
    return {};
  });
  LB_RETURN_IF_ERROR(together);
  return passed(fmt::format("{} threads", threads));
}

// Several models of one state, destroyed in another order than they were loaded in, and on another thread.
Result<Finding> be_destroyed_in_any_order(Context& context) {
  LB_ASSIGN_OR_RETURN(RawSample first, load_raw_sample(context));
  std::mt19937 chance(context.options().seed);
  LB_ASSIGN_OR_RETURN(auto second, first.device.load(first.sample.graph));
  LB_ASSIGN_OR_RETURN(auto third, first.device.load(first.sample.graph));
  LB_RETURN_IF_ERROR(run_raw(*first.executable, first.sample, chance, 2));
  context.step("destroy_executable() of the first of three");
  first.executable.reset();
  context.step("execute() of the second");
  LB_RETURN_IF_ERROR(run_raw(*second, first.sample, chance, 2));
  context.step("destroy_executable() on another thread");
  platform::Thread elsewhere([&] { third.reset(); });
  elsewhere.join();
  context.step("execute() of the second");
  LB_RETURN_IF_ERROR(run_raw(*second, first.sample, chance, 2));
  context.step("destroy_executable() of a model that never ran");
  LB_RETURN_IF_ERROR(first.device.load(first.sample.graph).status());
  return passed();
}

constexpr Check kRunChecks[] = {
    {.name = "run.outputs",
     .what = "Each run prepares each output once, writes nothing beyond it, leaves its inputs alone and computes.",
     .scope = Scope::kPlugin,
     .run = write_outputs_once},
    {.name = "run.no_memory",
     .what = "A run whose output gets no memory gives LBB_BUFFER_TOO_SMALL, and the next one computes.",
     .scope = Scope::kPlugin,
     .run = live_without_memory},
    {.name = "run.cancelled",
     .what = "A run that is cancelled gives LBB_CANCELLED or its result, and the next one computes.",
     .scope = Scope::kPlugin,
     .run = end_when_cancelled},
    {.name = "run.deadline",
     .what = "A run whose deadline has passed gives LBB_DEADLINE_EXCEEDED or its result, and the next one computes.",
     .scope = Scope::kPlugin,
     .run = end_at_the_deadline},
    {.name = "run.threads",
     .what = "As many runs as the loaded model allows execute at once.",
     .scope = Scope::kPlugin,
     .run = run_on_many_threads},
    {.name = "run.order",
     .what = "Loaded models are destroyed in any order, on any thread, whether they ran or not.",
     .scope = Scope::kPlugin,
     .run = be_destroyed_in_any_order}};

}  // namespace

std::span<const Check> run_checks() {
  return kRunChecks;
}

}  // namespace latebind::kit
