#include "kit/raw/raw_plugin.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>

#include "kit/check.h"
#include "kit/raw/kept.h"
#include "kit/raw/raw_tensors.h"

namespace latebind::kit {

core::Result<std::shared_ptr<RawState>> RawState::create(plugin::PluginPointer plugin,
                                                         const core::BackendSettingTexts& settings) {
  std::deque<lbb_pair> pairs;
  std::vector<const lbb_pair*> list;
  for (const auto& [key, text] : settings) {
    pairs.push_back({.struct_size = sizeof(lbb_pair), .key = key.c_str(), .text = text.c_str()});
    list.push_back(&pairs.back());
  }
  lbb_backend* handle = nullptr;
  LB_RETURN_IF_ERROR(call_slot(plugin->name, "create", [&](lbb_error* error) {
    return plugin->slots.create(&watching_host(), list.data(), list.size(), &handle, error);
  }));
  if (handle == nullptr) return wrong("create() returns LBB_OK and makes no state");
  return std::shared_ptr<RawState>(new RawState(std::move(plugin), handle));
}

RawState::~RawState() {
  const core::Status status = plugin::called_without_error(plugin_->name, "destroy", [&] { slots().destroy(handle_); });
  if (!status.ok()) note_breach(status.to_string());
}

core::Status RawState::available() {
  return call_slot(plugin_->name, "available", [&](lbb_error* error) { return slots().available(handle_, error); });
}

core::Result<RawState::Listed> RawState::devices() {
  auto& sink = kept<lbb_devices>();
  sink.backend = plugin_->name;
  sink.version = plugin_->version;
  core::Status status;
  {
    const Usable usable(&sink, "devices");
    status =
        call_slot(plugin_->name, "devices", [&](lbb_error* error) { return slots().devices(handle_, &sink, error); });
  }
  LB_RETURN_IF_ERROR(sink.problem);
  LB_RETURN_IF_ERROR(status);
  return Listed{sink.devices, sink.reads};
}

core::Result<std::unique_ptr<RawExecutable>> RawExecutable::load(std::shared_ptr<RawState> state,
                                                                 std::unique_ptr<CopiedModel> model) {
  lbb_executable* handle = nullptr;
  const core::Status loaded = call_slot(state->plugin().name, "load", [&](lbb_error* error) {
    return state->slots().load(state->handle(), model->model(), model->device(), model->options(), &handle, error);
  });
  model->end_call();
  LB_RETURN_IF_ERROR(loaded);
  if (handle == nullptr) return wrong("load() returns LBB_OK and loads nothing");
  const lbb_active* given = nullptr;
  LB_RETURN_IF_ERROR(plugin::called_without_error(state->plugin().name, "describe_executable",
                                                  [&] { given = state->slots().describe_executable(handle); }));
  auto active = plugin::read_active(given, state->plugin());
  if (!active.ok()) return active.status().with_context("describe_executable()");
  if (active->releases_bytes) model->end_bytes();
  return std::unique_ptr<RawExecutable>(
      new RawExecutable(std::move(state), std::move(model), handle, *std::move(active)));
}

RawExecutable::~RawExecutable() {
  const core::Status status = plugin::called_without_error(state_->plugin().name, "destroy_executable",
                                                           [&] { state_->slots().destroy_executable(handle_); });
  if (!status.ok()) note_breach(status.to_string());
}

core::Result<plugin::Active> RawExecutable::describe() const {
  const lbb_active* given = nullptr;
  LB_RETURN_IF_ERROR(plugin::called_without_error(state_->plugin().name, "describe_executable",
                                                  [&] { given = state_->slots().describe_executable(handle_); }));
  return plugin::read_active(given, state_->plugin());
}

core::Result<std::vector<Array>> RawExecutable::run(const Inputs& inputs, const RawRun& how) {
  RawInputs given(active_.inputs, inputs, how.growth);
  RawOutputs outputs(active_.outputs, how.has_memory);
  const RawCircumstances circumstances(how);
  const core::Status status = call_slot(state_->plugin().name, "execute", [&](lbb_error* error) {
    const auto usable = outputs.usable();
    return state_->slots().execute(handle_, given.list(), given.count(), outputs.list(), outputs.count(),
                                   circumstances.get(), error);
  });
  LB_RETURN_IF_ERROR(given.check_unchanged());
  LB_RETURN_IF_ERROR(outputs.check_edges());
  LB_RETURN_IF_ERROR(outputs.problem());
  LB_RETURN_IF_ERROR(status);
  return outputs.take();
}

core::Status raw_takes(RawState& state, const CopiedModel& model) {
  if (state.slots().takes == nullptr) return {};
  return call_slot(state.plugin().name, "takes", [&](lbb_error* error) {
    return state.slots().takes(state.handle(), model.graph(), model.device(), model.options(), error);
  });
}

}  // namespace latebind::kit
