#include "backends/plugin/executable.h"

#include <fmt/format.h>

#include <utility>

#include "backends/plugin/active.h"
#include "core/log.h"

namespace latebind::plugin {
namespace {

using core::OutputTensor;
using core::Result;
using core::Status;
using core::StatusCode;
using core::TensorView;

void set_view(lbb_tensor& tensor, core::Shape& kept, const TensorView& view, const void* data) {
  kept = view.shape;
  tensor.type = static_cast<std::int32_t>(view.type);
  tensor.dims = kept.dims().data();
  tensor.rank = kept.rank();
  tensor.data = data;
}

}  // namespace

Loaded::~Loaded() {
  if (!state->plugin().opened.this_process()) return;
  const Status destroyed = called_without_error(state->plugin().name, "destroy_executable",
                                                [&] { state->slots().destroy_executable(handle); });
  if (!destroyed.ok()) core::log(core::LogLevel::kWarning, destroyed.to_string());
}

void Loaded::stop(GivenRun& run) const {
  run.give_up();
  const Plugin& plugin = state->plugin();
  if (plugin.slots.stop_run == nullptr) return;
  const Status stopped =
      called_without_error(plugin.name, "stop_run", [&] { plugin.slots.stop_run(handle, run.get()); });
  if (!stopped.ok()) core::log(core::LogLevel::kWarning, stopped.to_string());
}

RunMemory::RunMemory(const Loaded& loaded)
    : inputs(loaded.inputs.size(), sized<lbb_tensor>()),
      outputs(loaded.outputs.size()),
      own_inputs(loaded.inputs.size()),
      own_outputs(loaded.outputs.size()),
      shapes(loaded.inputs.size()) {
  for (const lbb_tensor& input : inputs)
    input_list.push_back(&input);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].info = &loaded.outputs[i];
    output_list.push_back(&outputs[i]);
  }
}

Status PluginRun::place(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, bool in_own_memory) {
  in_own_memory_ = in_own_memory;
  RunMemory& memory = **lease_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& view = inputs[i];
    const void* data = view.data;
    if (in_own_memory || !view.is_contiguous() || !core::is_aligned(view.data, view.type)) {
      LB_ASSIGN_OR_RETURN(void* const copy, memory.own_inputs[i].prepare(view.type, view.shape));
      LB_RETURN_IF_ERROR(view.copy_to_contiguous(copy));
      data = copy;
    }
    set_view(memory.inputs[i], memory.shapes[i], view, data);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    memory.outputs[i].to = in_own_memory ? &memory.own_outputs[i] : &outputs[i];
    memory.outputs[i].problem = Status();
    memory.outputs[i].is_prepared = false;
  }
  return {};
}

Status PluginRun::check_outputs(const Status& status) {
  const RunMemory& memory = **lease_;
  for (const lbb_output& output : memory.outputs)
    if (!output.problem.ok()) return output.problem;
  if (!status.ok()) return status;
  for (const lbb_output& output : memory.outputs) {
    if (output.is_prepared) continue;
    return breach(fmt::format("{} returned from execute() without the output '{}', and reported no error",
                              loaded_->state->plugin().name, output.info->name));
  }
  return {};
}

Status PluginRun::compute() {
  const Plugin& plugin = loaded_->state->plugin();
  LB_RETURN_IF_ERROR(plugin.check_process());
  if (given_.is_given_up()) return Status(StatusCode::kCancelled, "the run was given up");
  RunMemory& memory = **lease_;
  lbb_error error;
  const Status status = called(plugin.name, "execute", error, [&](lbb_error* to) {
    return plugin.slots.execute(loaded_->handle, memory.input_list.data(), memory.input_list.size(),
                                memory.output_list.data(), memory.output_list.size(), given_.get(), to);
  });
  if (!status.ok() && error.is_spoiled) lease_.spoil();
  return check_outputs(status);
}

Status PluginRun::give(std::span<OutputTensor> outputs) {
  if (!in_own_memory_) return {};
  const RunMemory& memory = **lease_;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const TensorView& own = memory.own_outputs[i].view();
    LB_ASSIGN_OR_RETURN(void* const to, outputs[i].prepare(own.type, own.shape));
    LB_RETURN_IF_ERROR(own.copy_to_contiguous(to));
  }
  return {};
}

Result<std::unique_ptr<PluginExecutable>> PluginExecutable::create(StatePointer state, lbb_executable* executable,
                                                                   std::shared_ptr<const void> bytes, bool from_blob) {
  const std::string& who = state->plugin().name;
  if (executable == nullptr) return breach(fmt::format("{} loaded nothing, and reported no error", who));
  const auto loaded = std::make_shared<Loaded>(std::move(state), executable, std::move(bytes));
  const lbb_active* given = nullptr;
  LB_RETURN_IF_ERROR(called_without_error(who, "describe_executable",
                                          [&] { given = loaded->state->slots().describe_executable(executable); }));
  auto read = read_active(given, loaded->state->plugin());
  if (!read.ok()) return read.status().with_context(fmt::format("{} describes a loaded model wrongly", who));
  loaded->inputs = std::move(read->inputs);
  loaded->outputs = std::move(read->outputs);
  if (read->releases_bytes) loaded->bytes.reset();
  read->config.from_cache = from_blob;
  return std::unique_ptr<PluginExecutable>(new PluginExecutable(loaded, std::move(read->config)));
}

PluginExecutable::PluginExecutable(const std::shared_ptr<const Loaded>& loaded, core::ActiveConfig active)
    : PooledExecutable(
          loaded, active.id(), active.requests,
          // The loaded model outlives its runs, and a run owns it longer than its memory.
          [loaded]() -> Result<std::unique_ptr<RunMemory>> { return std::make_unique<RunMemory>(*loaded); }),
      active_(std::move(active)),
      model_(loaded) {}

Status PluginExecutable::prepare() {
  const Plugin& plugin = model_->state->plugin();
  if (plugin.slots.prepare == nullptr) return {};
  LB_RETURN_IF_ERROR(plugin.check_process());
  return called(plugin.name, "prepare", [&](lbb_error* error) { return plugin.slots.prepare(model_->handle, error); });
}

}  // namespace latebind::plugin
