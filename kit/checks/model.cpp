// The group "model": loading, and what a plug-in may believe about what it gets.
#include <fmt/format.h>

#include <algorithm>

#include "core/graph/operator_members.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/operator_cases.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kOtherOperator = "kit_operator";
constexpr const char* kOtherArgument = "kit_argument";

Result<Finding> take_a_sample(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  std::mt19937 chance(context.options().seed);
  LB_RETURN_IF_ERROR(run_sample(*loaded.executable, loaded.sample, chance, 3));
  return passed(loaded.sample.name);
}

// Describes a model as its graph declares it.
Result<Finding> describe_the_model(Context& context) {
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  core::Executable& executable = *loaded.executable;
  std::size_t input = 0;
  for (const graph::Node& node : loaded.sample.graph.nodes()) {
    const auto* const op = std::get_if<graph::Input>(&node.op);
    if (op == nullptr) continue;
    if (input >= executable.inputs().size()) return wrong("the loaded model has fewer inputs than its graph");
    const core::TensorInfo& info = executable.inputs()[input++];
    if (info.name != op->name || info.type != op->type || !(info.shape == op->shape)) {
      return wrong(fmt::format("input {} is '{}' {} {}, and should be '{}' {} {}", input - 1, info.name,
                               core::name_of(info.type), info.shape.to_string(), op->name, core::name_of(op->type),
                               op->shape.to_string()));
    }
  }
  if (input != executable.inputs().size()) return wrong("the loaded model has more inputs than its graph");
  if (executable.outputs().size() != loaded.sample.graph.outputs().size())
    return wrong("the loaded model has another number of outputs than its graph");
  const std::string& name = loaded.sample.graph.output_name();
  const core::TensorInfo& output = executable.outputs().front();
  if (output.name != name || output.type != core::ElementType::kF32)
    return wrong(
        fmt::format("the output is '{}' {}, and should be '{}' f32", output.name, core::name_of(output.type), name));
  const core::ActiveConfig& active = executable.active();
  if (active.device != context.options().device)
    return wrong(fmt::format("the loaded model says that its device is {}", active.device));
  if (active.device_full_name.empty()) return wrong("the loaded model does not say the full name of its device");
  return passed(
      fmt::format("{} in {}, {} runs at once", loaded.sample.name, core::word_of(active.precision), active.requests));
}

Result<Finding> honour_the_number_of_runs(Context& context) {
  constexpr unsigned kRequests = 3;
  const auto loaded = load_sample(context, {.requests = kRequests});
  if (!loaded.ok()) return loaded.status();
  const unsigned active = loaded->executable->active().requests;
  if (active != kRequests)
    return wrong(
        fmt::format("a model that was loaded for {} runs at once says that {} may execute", kRequests, active));
  return passed();
}

Result<Finding> refuse_unknown_properties(Context& context) {
  const auto loaded = load_sample(context, {.properties = {{"KIT_PROPERTY", "1"}}});
  if (loaded.ok()) return wrong("load() takes the unknown property KIT_PROPERTY");
  const std::string text = loaded.status().to_string();
  if (text.find("KIT_PROPERTY") == std::string::npos)
    return wrong(fmt::format("the error does not name the unknown property KIT_PROPERTY: {}", text));
  return passed(text);
}

// A plug-in must refuse a graph that was changed in this way, and name what it does not know.
Result<Finding> refuse_changed(Context& context, void (*change)(CopiedModel& model), const char* name) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  if (!device.reads_graphs()) return absent("the device does not read graphs");
  LB_ASSIGN_OR_RETURN(const Sample sample, raw_sample(context, device));
  LB_ASSIGN_OR_RETURN(auto model, device.copy(sample.graph));
  change(*model);
  context.step(fmt::format("takes() and load() of a graph with {}", name));
  const Status takes = raw_takes(*device.state, *model);
  const Status loads = RawExecutable::load(device.state, std::move(model)).status();
  if (device.state->slots().takes != nullptr && takes.code() != StatusCode::kUnsupported)
    return wrong(fmt::format("takes() answers {} for a graph with {}", core::name_of(takes.code()), name));
  if (loads.code() != StatusCode::kUnsupported)
    return wrong(
        fmt::format("load() answers {} for a graph with {}: {}", core::name_of(loads.code()), name, loads.to_string()));
  if (loads.to_string().find(name) == std::string::npos)
    return wrong(fmt::format("the error does not name {}: {}", name, loads.to_string()));
  return passed(std::string(loads.message()));
}

Result<Finding> refuse_unknown_operators(Context& context) {
  return refuse_changed(
      context, [](CopiedModel& model) { model.rename_operator(kOtherOperator); }, kOtherOperator);
}

Result<Finding> refuse_unknown_arguments(Context& context) {
  return refuse_changed(
      context, [](CopiedModel& model) { model.add_argument(kOtherArgument); }, kOtherArgument);
}

// For graphs of every operator.
Result<Finding> agree_with_takes(Context& context) {
  constexpr int kOfEach = 6;
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  if (device.state->slots().takes == nullptr) return absent("it has no takes()");
  if (!device.reads_graphs()) return absent("the device does not read graphs");
  std::mt19937 chance(context.options().seed);
  int taken = 0;
  int all = 0;
  for (const OperatorCases& of : operator_cases()) {
    for (int i = 0; i < kOfEach; ++i) {
      const CaseSource source = of.from_numbers && i % 2 == 0 ? CaseSource::kNumbers : CaseSource::kTokens;
      LB_ASSIGN_OR_RETURN(const GraphCase one, of.draw(chance, {source, needs_static_shapes(device.device)}));
      LB_ASSIGN_OR_RETURN(auto model, device.copy(one.graph));
      context.step(fmt::format("takes() and load() of {}", one.text));
      const Status takes = raw_takes(*device.state, *model);
      const Status loads = RawExecutable::load(device.state, std::move(model)).status();
      if (takes.ok() != loads.ok()) {
        return wrong(
            fmt::format("takes() says '{}' and load() says '{}' [{}]", takes.to_string(), loads.to_string(), one.text));
      }
      taken += takes.ok() ? 1 : 0;
      ++all;
    }
  }
  return passed(fmt::format("takes {} of {} graphs", taken, all));
}

// Loads the sample from a copy that is made in this way, and runs it.
Result<Finding> compute_from_copy(Context& context, const CopyOptions& how, std::size_t growth_of_runs = 0) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  LB_ASSIGN_OR_RETURN(const Sample sample, raw_sample(context, device));
  context.step(fmt::format("load() of {}", sample.name));
  LB_ASSIGN_OR_RETURN(const auto executable, device.load(sample.graph, how));
  std::mt19937 chance(context.options().seed);
  context.step(fmt::format("execute() of {}", sample.name));
  LB_RETURN_IF_ERROR(run_raw(*executable, sample, chance, 3, {.growth = growth_of_runs}));
  return passed(sample.name);
}

Result<Finding> need_nothing_after_load(Context& context) {
  return compute_from_copy(context, {});
}

Result<Finding> take_larger_structs(Context& context) {
  constexpr std::size_t kGrowth = 128;
  return compute_from_copy(context, {.growth = kGrowth}, kGrowth);
}

Result<Finding> take_weights_at_odd_addresses(Context& context) {
  return compute_from_copy(context, {.odd_addresses = true});
}

Result<Finding> survive_without_weights(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  if (!device.reads_graphs()) return absent("the device does not read graphs");
  LB_ASSIGN_OR_RETURN(const auto all, samples(needs_static_shapes(device.device)));
  std::size_t failed = 0;
  for (const Sample& sample : all) {
    const auto whole = device.load(sample.graph);
    if (!whole.ok()) continue;
    context.step(fmt::format("load() of {}, whose weights cannot be read", sample.name));
    LB_ASSIGN_OR_RETURN(auto model, device.copy(sample.graph, {.no_weights = true}));
    if (model->graph()->weight_count == 0) continue;
    if (RawExecutable::load(device.state, std::move(model)).ok())
      return wrong(fmt::format("load() of {} succeeds, although its weights cannot be read", sample.name));
    ++failed;
  }
  return failed == 0 ? absent("it takes no sample with weights") : passed();
}

Result<Finding> describe_the_same_again(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  LB_ASSIGN_OR_RETURN(const Sample sample, raw_sample(context, device));
  LB_ASSIGN_OR_RETURN(const auto executable, device.load(sample.graph));
  std::mt19937 chance(context.options().seed);
  for (int i = 0; i < 3; ++i) {
    context.step("describe_executable()");
    LB_ASSIGN_OR_RETURN(const plugin::Active again, executable->describe());
    const core::ActiveConfig& first = executable->active().config;
    const bool is_same = again.config.precision == first.precision && again.config.requests == first.requests &&
                         again.config.device == first.device && again.config.threads == first.threads &&
                         again.inputs.size() == executable->active().inputs.size() &&
                         again.outputs.size() == executable->active().outputs.size() &&
                         again.releases_bytes == executable->active().releases_bytes;
    if (!is_same) return wrong("describe_executable() answers differently than after load()");
    context.step("execute()");
    LB_RETURN_IF_ERROR(run_raw(*executable, sample, chance, i + 1));
  }
  return passed();
}

constexpr Check kModelChecks[] = {
    {.name = "model.sample",
     .what = "The device takes one of the kit's samples and computes what the graph means.",
     .run = take_a_sample,
     .is_prerequisite = true},
    {.name = "model.described",
     .what = "The loaded model has the graph's inputs and output, and names its device.",
     .run = describe_the_model},
    {.name = "model.described_again",
     .what = "What a loaded model says about itself does not change.",
     .scope = Scope::kPlugin,
     .run = describe_the_same_again},
    {.name = "model.requests",
     .what = "The number of runs at once that was asked for is that of the loaded model.",
     .run = honour_the_number_of_runs},
    {.name = "model.property", .what = "An unknown property is refused by its name.", .run = refuse_unknown_properties},
    {.name = "model.operator",
     .what = "A graph with an unknown operator is refused with LBB_UNSUPPORTED and the operator's name.",
     .scope = Scope::kPlugin,
     .run = refuse_unknown_operators},
    {.name = "model.argument",
     .what = "A graph with an unknown argument of a known operator is refused with LBB_UNSUPPORTED and its name.",
     .scope = Scope::kPlugin,
     .run = refuse_unknown_arguments},
    {.name = "model.takes",
     .what = "takes() and load() agree about graphs of every operator.",
     .scope = Scope::kPlugin,
     .run = agree_with_takes},
    {.name = "model.memory",
     .what = "After load() has returned, nothing of the model is read but the bytes of weights that it keeps.",
     .scope = Scope::kPlugin,
     .run = need_nothing_after_load},
    {.name = "model.larger_structs",
     .what = "Structs of a later host, which are larger, are read as far as they are known.",
     .scope = Scope::kPlugin,
     .run = take_larger_structs},
    {.name = "model.odd_weights",
     .what = "Weights may be at any address.",
     .scope = Scope::kPlugin,
     .run = take_weights_at_odd_addresses},
    {.name = "model.no_weights",
     .what = "A model whose weights cannot be read is an error.",
     .scope = Scope::kPlugin,
     .run = survive_without_weights}};

}  // namespace

std::span<const Check> model_checks() {
  return kModelChecks;
}

}  // namespace latebind::kit
