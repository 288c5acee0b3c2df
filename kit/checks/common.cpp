#include "kit/checks/common.h"

#include <fmt/format.h>

#include <latch>
#include <utility>
#include <vector>

#include "core/platform/thread.h"
#include "kit/compare.h"
#include "kit/networks/graph_model.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

core::Model model_of_sample(const graph::Graph& graph) {
  return model_of(graph, "a sample of the kit");
}

// Tries the samples until `load` returns no kUnsupported, and returns that one.
template <class Load>
core::Result<Sample> first_taken(bool is_static, const Load& load) {
  LB_ASSIGN_OR_RETURN(std::vector<Sample> all, samples(is_static));
  std::string reasons;
  for (Sample& sample : all) {
    const core::Status status = load(sample);
    if (status.ok()) return std::move(sample);
    if (status.code() != core::StatusCode::kUnsupported)
      return status.with_context(fmt::format("{}: {}", sample.name, core::name_of(status.code())));
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", sample.name, status.message());
  }
  return wrong(fmt::format("takes none of the kit's {} samples: {}", all.size(), reasons));
}

}  // namespace

core::Result<LoadedSample> load_sample(Context& context, core::CompileOptions options) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  options.precision = default_precision(device);
  std::unique_ptr<core::Executable> executable;
  auto sample = first_taken(needs_static_shapes(device), [&](const Sample& each) -> core::Status {
    context.step(fmt::format("load() of {}", each.name));
    LB_ASSIGN_OR_RETURN(executable, backend->load(model_of_sample(each.graph), device.name, options));
    return {};
  });
  if (!sample.ok()) return sample.status();
  context.step(fmt::format("execute() of {}", sample->name));
  return LoadedSample{*std::move(sample), std::move(executable)};
}

core::Status run_sample(core::Executable& executable, const Sample& sample, std::mt19937& chance, std::int64_t rows) {
  const Inputs inputs = sample.batch(chance, rows);
  LB_ASSIGN_OR_RETURN(const auto found, run_arrays(executable, inputs));
  return compare(sample.graph, inputs, found, executable.active().precision);
}

core::Result<std::unique_ptr<CopiedModel>> RawDevice::copy(const graph::Graph& graph, const CopyOptions& how,
                                                           core::CompileOptions options) const {
  options.precision = default_precision(device);
  return CopiedModel::make(model_of_sample(graph), options, device.name, reads, how);
}

core::Result<std::unique_ptr<RawExecutable>> RawDevice::load(const graph::Graph& graph, const CopyOptions& how) const {
  LB_ASSIGN_OR_RETURN(auto model, copy(graph, how));
  return RawExecutable::load(state, std::move(model));
}

core::Result<RawDevice> raw_device(Context& context) {
  RawDevice made;
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  context.step("create()");
  LB_ASSIGN_OR_RETURN(made.state, RawState::create(plugin, context.subject().settings()));
  context.step("available()");
  LB_RETURN_IF_ERROR(made.state->available());
  context.step("devices()");
  LB_ASSIGN_OR_RETURN(const RawState::Listed listed, made.state->devices());
  for (std::size_t i = 0; i < listed.devices.size(); ++i) {
    if (listed.devices[i].name != context.options().device) continue;
    made.device = listed.devices[i];
    made.reads = listed.reads[i];
    return made;
  }
  return wrong(fmt::format("devices() does not list {} any more", context.options().device));
}

core::Result<Sample> raw_sample(Context& context, const RawDevice& device) {
  return first_taken(needs_static_shapes(device.device), [&](const Sample& each) {
    context.step(fmt::format("load() of {}", each.name));
    return device.load(each.graph).status();
  });
}

core::Status run_raw(RawExecutable& executable, const Sample& sample, std::mt19937& chance, std::int64_t rows,
                     const RawRun& how) {
  const Inputs inputs = sample.batch(chance, rows);
  LB_ASSIGN_OR_RETURN(const auto found, executable.run(inputs, how));
  return compare(sample.graph, inputs, found, executable.active().config.precision);
}

core::Status on_threads(std::size_t count, const std::function<core::Status(std::size_t)>& work) {
  std::latch start(static_cast<std::ptrdiff_t>(count));
  std::vector<core::Status> results(count);
  std::vector<platform::Thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      try {
        results[i] = work(i);
      } catch (...) {
        results[i] = core::Status::of_exception();
      }
    });
  }
  for (platform::Thread& thread : threads)
    thread.join();
  for (const core::Status& result : results)
    LB_RETURN_IF_ERROR(result);
  return {};
}

}  // namespace latebind::kit
