// The group "call": a backend as Latebind calls it. What is wrong with a call is said before the vendor sees it.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "core/platform/thread.h"
#include "core/threads/cancellation.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/compare.h"
#include "kit/networks/graph_model.h"
#include "kit/run_graph.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using core::TensorView;

// The inputs of a batch as a caller has them.
class CallerInputs {
 public:
  CallerInputs(const core::Executable& executable, const Inputs& inputs) {
    for (const core::TensorInfo& info : executable.inputs()) {
      const Array& array = inputs.at(info.name);
      memory_.emplace_back(array.values.size() * sizeof(double));
      views_.push_back({memory_.back().data(), info.type, *core::Shape::make(array.shape), std::nullopt});
      for (std::size_t i = 0; i < array.values.size(); ++i) {
        if (info.type == core::ElementType::kI64) {
          reinterpret_cast<std::int64_t*>(memory_.back().data())[i] = static_cast<std::int64_t>(array.values[i]);
        } else {
          reinterpret_cast<float*>(memory_.back().data())[i] = static_cast<float>(array.values[i]);
        }
      }
    }
  }
  [[nodiscard]] std::vector<TensorView> views() const { return views_; }

 private:
  std::vector<std::vector<std::byte>> memory_;
  std::vector<TensorView> views_;
};

Status expect(const char* what, const Status& status, StatusCode code, const std::string& name = {}) {
  if (status.code() != code)
    return wrong(fmt::format("{} gives {} and not {}: {}", what, core::name_of(status.code()), core::name_of(code),
                             status.to_string()));
  if (status.to_string().find(name) == std::string::npos)
    return wrong(fmt::format("{}: the error does not name {}: {}", what, name, status.to_string()));
  return {};
}

Result<Finding> refuse_wrong_calls(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::Executable& executable = *loaded.executable;
  std::mt19937 chance(context.options().seed);
  const CallerInputs inputs(executable, loaded.sample.batch(chance, 2));
  const std::string name = executable.inputs().front().name;
  std::array<core::OutputTensor, 1> outputs;
  const auto run = [&](const std::vector<TensorView>& given) { return executable.execute(given, outputs, {}); };
  std::vector<TensorView> given = inputs.views();
  given.pop_back();
  LB_RETURN_IF_ERROR(expect("a call without an input", run(given), StatusCode::kCountMismatch));
  given = inputs.views();
  given[0].type = core::ElementType::kI8;
  LB_RETURN_IF_ERROR(expect("an input of another type", run(given), StatusCode::kTypeMismatch, name));
  given = inputs.views();
  given[0].shape = core::Shape{2, 2, 2, 2, 2};
  LB_RETURN_IF_ERROR(expect("an input of another rank", run(given), StatusCode::kShapeMismatch, name));
  given = inputs.views();
  given[0].data = nullptr;
  LB_RETURN_IF_ERROR(expect("an input without memory", run(given), StatusCode::kInvalidArgument, name));
  std::array<core::OutputTensor, 3> many;
  LB_RETURN_IF_ERROR(
      expect("a call with too many outputs", executable.execute(inputs.views(), many, {}), StatusCode::kCountMismatch));
  context.step("the run after the wrong calls");
  LB_RETURN_IF_ERROR(run_sample(executable, loaded.sample, chance, 2));
  return passed();
}

Result<Finding> write_to_the_callers_memory(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::Executable& executable = *loaded.executable;
  std::mt19937 chance(context.options().seed);
  const Inputs batch = loaded.sample.batch(chance, 3);
  const CallerInputs inputs(executable, batch);
  LB_ASSIGN_OR_RETURN(const auto wanted, run_arrays(executable, batch));
  const std::size_t count = wanted.front().values.size();
  constexpr float kEdge = -12345;
  std::vector<float> memory(count + 1, kEdge);
  core::OutputTensor output = core::OutputTensor::bound(memory.data(), count * sizeof(float));
  LB_RETURN_IF_ERROR(executable.execute(inputs.views(), {&output, 1}, {}));
  if (memory.back() != kEdge) return wrong("a run writes beyond the caller's memory");
  const Array found{wanted.front().shape, {memory.begin(), memory.end() - 1}};
  LB_RETURN_IF_ERROR(compare(loaded.sample.graph, batch, {found}, executable.active().precision));
  core::OutputTensor small = core::OutputTensor::bound(memory.data(), sizeof(float) * (count - 1));
  LB_RETURN_IF_ERROR(expect("a call with too little memory", executable.execute(inputs.views(), {&small, 1}, {}),
                            StatusCode::kBufferTooSmall));
  LB_RETURN_IF_ERROR(run_sample(executable, loaded.sample, chance, 3));
  return passed();
}

Result<Finding> serve_many_threads(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context, {.requests = 3}));
  context.step("execute() on 8 threads, with 3 runs at once");
  const Status together = on_threads(8, [&](std::size_t thread) -> Status {
    std::mt19937 chance(context.options().seed + static_cast<std::uint32_t>(thread));
    // Each thread has its own number of rows, so that a result of another run is noticed.
    for (int i = 0; i < 15; ++i)
      LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, static_cast<std::int64_t>(thread) + 1));
    return {};
  });
  LB_RETURN_IF_ERROR(together);
  return passed();
}

Result<Finding> outlive_the_backend(Context& context) {
  LB_ASSIGN_OR_RETURN(std::shared_ptr<core::Backend> backend, context.make_backend());
  std::unique_ptr<core::Executable> executable;
  LB_ASSIGN_OR_RETURN(LoadedSample loaded, load_sample(context));
  std::mt19937 chance(context.options().seed);
  {
    LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
    core::CompileOptions options;
    options.precision = default_precision(device);
    LB_ASSIGN_OR_RETURN(executable, backend->load(model_of(loaded.sample.graph), device.name, options));
  }
  context.step("the end of the backend");
  backend.reset();
  context.step("execute() after the end of the backend");
  LB_RETURN_IF_ERROR(run_sample(*executable, loaded.sample, chance, 2));
  return passed();
}

Result<Finding> hold_deadlines(Context& context) {
  constexpr auto kLate = std::chrono::seconds(2);
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::Executable& executable = *loaded.executable;
  std::mt19937 chance(context.options().seed);
  const Inputs large = loaded.sample.batch(chance, 20'000);
  for (const auto time : {std::chrono::milliseconds(-1), std::chrono::milliseconds(0), std::chrono::milliseconds(2)}) {
    core::RunOptions options;
    options.deadline = std::chrono::steady_clock::now() + time;
    context.step(fmt::format("execute() with a deadline in {} ms", time.count()));
    const Status status = run(executable, large, options).status;
    if (std::chrono::steady_clock::now() > *options.deadline + kLate)
      return wrong(
          fmt::format("a run with a deadline in {} ms returned more than {} s late", time.count(), kLate.count()));
    if (time.count() < 0)
      LB_RETURN_IF_ERROR(expect("a run that is late already", status, StatusCode::kDeadlineExceeded));
    if (!status.ok() && status.code() != StatusCode::kDeadlineExceeded && status.code() != StatusCode::kBusy)
      return wrong(fmt::format("a run with a deadline gives {}", status.to_string()));
    LB_RETURN_IF_ERROR(run_sample(executable, loaded.sample, chance, 2));
  }
  return passed();
}

Result<Finding> hold_cancellations(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::Executable& executable = *loaded.executable;
  std::mt19937 chance(context.options().seed);
  const Inputs large = loaded.sample.batch(chance, 20'000);
  core::RunOptions options;
  options.cancellation = core::Cancellation::create();
  Status status;
  {
    context.step("execute() that is cancelled meanwhile");
    platform::Thread running([&] { status = run(executable, large, options).status; });
    options.cancellation.request();
    running.join();
  }
  if (!status.ok() && status.code() != StatusCode::kCancelled)
    return wrong(fmt::format("a cancelled run gives {}", status.to_string()));
  LB_RETURN_IF_ERROR(
      expect("a run that was cancelled before", run(executable, large, options).status, StatusCode::kCancelled));
  LB_RETURN_IF_ERROR(run_sample(executable, loaded.sample, chance, 2));
  return passed();
}

// A batch without rows has an empty result, or is refused.
Result<Finding> survive_empty_batches(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  if (loaded.sample.is_static) return absent("the device needs static shapes");
  core::Executable& executable = *loaded.executable;
  std::mt19937 chance(context.options().seed);
  Inputs empty = loaded.sample.batch(chance, 1);
  for (auto& [name, array] : empty) {
    array.shape[0] = 0;
    array.values.clear();
  }
  context.step("execute() of a batch without rows");
  const Outcome outcome = run(executable, empty);
  if (outcome.status.ok() && (outcome.shape.rank() == 0 || outcome.shape[0] != 0))
    return wrong(fmt::format("a batch without rows gives {}", outcome.shape.to_string()));
  LB_RETURN_IF_ERROR(run_sample(executable, loaded.sample, chance, 2));
  return outcome.status.ok() ? passed(outcome.shape.to_string()) : passed("refused: " + outcome.status.to_string());
}

Result<Finding> prepare_before_the_first_run(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  context.step("prepare()");
  LB_RETURN_IF_ERROR(loaded.executable->prepare());
  LB_RETURN_IF_ERROR(loaded.executable->prepare());
  std::mt19937 chance(context.options().seed);
  LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, 2));
  return passed();
}

constexpr Check kCallChecks[] = {
    {.name = "call.wrong",
     .what = "Wrong counts, types, shapes and memory are refused by name.",
     .run = refuse_wrong_calls},
    {.name = "call.memory",
     .what = "A run writes to the caller's memory and not beyond, and too little memory is an error.",
     .run = write_to_the_callers_memory},
    {.name = "call.threads",
     .what = "More threads than runs at once get their own results.",
     .run = serve_many_threads},
    {.name = "call.outlives", .what = "A loaded model outlives its backend.", .run = outlive_the_backend},
    {.name = "call.deadline",
     .what = "A run returns at its deadline, and the next one computes.",
     .run = hold_deadlines},
    {.name = "call.cancellation",
     .what = "A run returns when it is cancelled, and the next one computes.",
     .run = hold_cancellations},
    {.name = "call.empty",
     .what = "A batch without rows gives an empty result or an error.",
     .run = survive_empty_batches},
    {.name = "call.prepare", .what = "prepare() leaves the model ready.", .run = prepare_before_the_first_run}};

}  // namespace

std::span<const Check> call_checks() {
  return kCallChecks;
}

}  // namespace latebind::kit
