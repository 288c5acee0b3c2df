#include "backends/plugin/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/plugin/executable.h"
#include "backends/plugin/host.h"
#include "core/log.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/vendor/vendor_call.h"

namespace latebind::plugin {
namespace {

using core::Blob;
using core::BlobLabel;
using core::CompileOptions;
using core::Device;
using core::Executable;
using core::Model;
using core::Precision;
using core::Result;
using core::Status;
using core::StatusCode;

// Checks what the contract promises the plug-in.
Status check_options(const Device& device, const CompileOptions& options) {
  LB_RETURN_IF_ERROR(core::check_counts(options));
  const bool can = options.precision == Precision::kFast ? device.traits.is_preferred_in(Precision::kFast)
                                                         : device.traits.computes_in(options.precision);
  if (can) return {};
  return Status(StatusCode::kUnsupported,
                fmt::format("{} computes in {}, but {} was requested", device.id(),
                            core::words_of(device.traits.precisions), core::word_of(options.precision)));
}

Status check_present(const Device& device, const CompileOptions& options) {
  if (!device.is_virtual() || (options.emulate && device.traits.virtual_device->is_emulated)) return {};
  return Status(StatusCode::kDeviceNotFound,
                fmt::format("{} is not in this machine; models can only be compiled for it", device.id()));
}

lbb_blob_label given_label(const BlobLabel& label) {
  lbb_blob_label given = sized<lbb_blob_label>();
  given.device = label.device.c_str();
  given.runtime_version = label.runtime_version.c_str();
  given.precision = static_cast<std::int32_t>(label.precision);
  given.compatibility = label.compatibility.c_str();
  return given;
}

Status no_slot(const State& state, std::string_view what) {
  return Status(StatusCode::kUnsupported, fmt::format("{} {}", state.plugin().name, what));
}

// Makes the blob that a plug-in has written.
Result<Blob> blob_of(const Plugin& plugin, const Device& device, Precision precision, lbb_bytes bytes, lbb_text text) {
  if (bytes.bytes.empty()) return breach(fmt::format("{} wrote a blob without bytes", plugin.name));
  if (core::find_invalid_utf8(text.text))
    return breach(fmt::format("{} gave a blob a compatibility text that is not UTF-8", plugin.name));
  Blob blob;
  blob.backend = device.backend;
  blob.device = device.name;
  blob.runtime_version = device.runtime_version;
  blob.precision = precision;
  blob.compatibility = std::move(text.text);
  blob.bytes = core::SharedBytes::from_string(std::move(bytes.bytes));
  return blob;
}

}  // namespace

Status PluginBackend::open() {
  LB_ASSIGN_OR_RETURN(const PluginPointer plugin, source_.open());
  if (plugin->name != source_.name) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("the library of the backend {} says that its name is {}", source_.name, plugin->name));
  }
  LB_ASSIGN_OR_RETURN(state_, State::create(plugin, settings_));
  plugin_ = plugin;
  slots_ = &plugin->slots;
  return {};
}

Result<StatePointer> PluginBackend::state() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  if (!state_) LB_RETURN_IF_ERROR(open());
  LB_RETURN_IF_ERROR(plugin_->check_process());
  return state_;
}

Result<PluginPointer> PluginBackend::plugin() {
  LB_RETURN_IF_ERROR(state().status());
  const core::MutexLock lock(mutex_);
  return plugin_;
}

Status PluginBackend::available() {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  return called(name(), "available",
                [&](lbb_error* error) { return state->slots().available(state->handle(), error); });
}

Result<std::string> PluginBackend::runtime_version() {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  if (state->slots().runtime_version == nullptr) return state->plugin().version;
  lbb_text text;
  LB_RETURN_IF_ERROR(called(name(), "runtime_version", [&](lbb_error* error) {
    return state->slots().runtime_version(state->handle(), &text, error);
  }));
  if (text.text.empty() || core::find_invalid_utf8(text.text))
    return breach(fmt::format("{} gave no version in UTF-8", name()));
  return std::move(text.text);
}

Result<std::vector<Device>> PluginBackend::list(const State& state, bool is_virtual) {
  lbb_devices listed;
  listed.backend = source_.name;
  listed.version = state.plugin().version;
  listed.digest = state.plugin().digest;
  const auto slot = is_virtual ? state.slots().virtual_devices : state.slots().devices;
  const Status status = called(name(), is_virtual ? "virtual_devices" : "devices",
                               [&](lbb_error* error) { return slot(state.handle(), &listed, error); });
  if (!listed.problem.ok()) return listed.problem.with_context(fmt::format("{} describes a device wrongly", name()));
  LB_RETURN_IF_ERROR(status);
  for (const Device& device : listed.devices) {
    if (device.is_virtual() == is_virtual) continue;
    return breach(fmt::format("{} says that {} is {}", name(), device.id(),
                              is_virtual ? "present and that it is not" : "not in this machine and that it is"));
  }
  const core::MutexLock lock(devices_mutex_);
  for (std::size_t i = 0; i < listed.devices.size(); ++i)
    devices_[listed.devices[i].name] = {.device = listed.devices[i], .reads = listed.reads[i]};
  return std::move(listed.devices);
}

Result<std::vector<Device>> PluginBackend::devices() {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  return list(*state, /*is_virtual=*/false);
}

Result<std::vector<Device>> PluginBackend::virtual_devices() {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  if (state->slots().virtual_devices == nullptr) return std::vector<Device>();
  return list(*state, /*is_virtual=*/true);
}

Result<PluginBackend::ListedDevice> PluginBackend::device_of(const State& state, std::string_view name) {
  const auto known = [&]() -> std::optional<ListedDevice> {
    const core::MutexLock lock(devices_mutex_);
    const auto found = devices_.find(name);
    return found == devices_.end() ? std::nullopt : std::optional(found->second);
  };
  if (auto device = known()) return *std::move(device);
  std::string names;
  for (const bool is_virtual : {false, true}) {
    if (is_virtual && state.slots().virtual_devices == nullptr) break;
    LB_ASSIGN_OR_RETURN(const auto devices, list(state, is_virtual));
    if (auto device = known()) return *std::move(device);
    for (const Device& device : devices)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", device.name);
  }
  return Status(StatusCode::kDeviceNotFound, fmt::format("{} has no device {}; it has {}", source_.name,
                                                         core::quoted(name), names.empty() ? "none" : names));
}

Result<std::unique_ptr<const GivenModel>> PluginBackend::give(const State& state, const Model& model,
                                                              const ListedDevice& device,
                                                              const CompileOptions& options) const {
  LB_RETURN_IF_ERROR(model.check_forms());
  const bool has_choice = (device.reads & ~std::uint32_t{LBB_READS_GRAPH}) != 0 && state.slots().takes != nullptr;
  if (!has_choice || model.graph() == nullptr) return GivenModel::make(model, device.reads);
  LB_ASSIGN_OR_RETURN(auto given, GivenModel::make(model, device.reads));
  if (given->graph() == nullptr) return given;
  const GivenOptions given_options(options);
  const Status taken = called(name(), "takes", [&](lbb_error* error) {
    return state.slots().takes(state.handle(), given->graph(), device.device.name.c_str(), given_options.get(), error);
  });
  if (taken.code() != StatusCode::kUnsupported) return given;
  core::log(core::LogLevel::kDebug,
            fmt::format("{}: {} does not take the graph: {}", model.name(), device.device.id(), taken.to_string()));
  return GivenModel::make(model, device.reads & ~std::uint32_t{LBB_READS_GRAPH});
}

Result<std::unique_ptr<Executable>> PluginBackend::load(const Model& model, std::string_view device,
                                                        const CompileOptions& options) {
  LB_ASSIGN_OR_RETURN(core::LoadedModel loaded, load_exporting(model, device, options));
  return std::move(loaded.executable);
}

Result<core::LoadedModel> PluginBackend::load_exporting(const Model& model, std::string_view device,
                                                        const CompileOptions& options) {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  LB_ASSIGN_OR_RETURN(const ListedDevice listed, device_of(*state, device));
  LB_RETURN_IF_ERROR(check_present(listed.device, options));
  LB_RETURN_IF_ERROR(check_options(listed.device, options));
  LB_RETURN_IF_ERROR(core::check_not_hung(listed.device.id(), "model"));
  LB_ASSIGN_OR_RETURN(const auto given, give(*state, model, listed, options));
  LB_RETURN_IF_ERROR(model.check_bytes());
  const GivenOptions given_options(options);
  lbb_executable* handle = nullptr;
  LB_RETURN_IF_ERROR(called(name(), "load", [&](lbb_error* error) {
    return state->slots().load(state->handle(), given->get(), listed.device.name.c_str(), given_options.get(), &handle,
                               error);
  }));
  LB_ASSIGN_OR_RETURN(auto executable, PluginExecutable::create(state, handle, given->bytes(), /*from_blob=*/false));
  LB_RETURN_IF_ERROR(given->check_files());
  LB_RETURN_IF_ERROR(model.check_bytes());
  core::LoadedModel loaded;
  if (state->slots().export_blob != nullptr && !executable->active().compiles_nothing) {
    loaded.export_blob = [kept = executable->model(), device = listed.device,
                          precision = executable->active().precision]() -> Result<Blob> {
      const Plugin& plugin = kept->state->plugin();
      LB_RETURN_IF_ERROR(plugin.check_process());
      lbb_bytes bytes;
      lbb_text text;
      LB_RETURN_IF_ERROR(called(plugin.name, "export_blob", [&](lbb_error* error) {
        return plugin.slots.export_blob(kept->handle, &bytes, &text, error);
      }));
      return blob_of(plugin, device, precision, std::move(bytes), std::move(text));
    };
  }
  loaded.executable = std::move(executable);
  return loaded;
}

Result<Blob> PluginBackend::compile(const Model& model, std::string_view device, const CompileOptions& options,
                                    core::LeftNodes& left) {
  left = {};
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  if (state->slots().compile == nullptr) return no_slot(*state, "does not compile blobs");
  LB_ASSIGN_OR_RETURN(const ListedDevice listed, device_of(*state, device));
  if (options.precision == Precision::kFast) return no_slot(*state, "compiles blobs only in a precision that is named");
  LB_RETURN_IF_ERROR(check_options(listed.device, options));
  LB_ASSIGN_OR_RETURN(const auto given, give(*state, model, listed, options));
  const GivenOptions given_options(options);
  lbb_bytes bytes;
  lbb_text text;
  const Status compiled = called(name(), "compile", [&](lbb_error* error) {
    return state->slots().compile(state->handle(), given->get(), listed.device.name.c_str(), given_options.get(),
                                  &bytes, &text, error);
  });
  left = std::move(bytes.left);
  LB_RETURN_IF_ERROR(compiled);
  LB_RETURN_IF_ERROR(given->check_files());
  return blob_of(state->plugin(), listed.device, options.precision, std::move(bytes), std::move(text));
}

Status PluginBackend::check(const BlobLabel& label, std::string_view device, const CompileOptions& options) {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  if (label.backend != source_.name || state->slots().check_blob == nullptr) {
    return Status(StatusCode::kIncompatibleBlob,
                  label.backend != source_.name
                      ? fmt::format("the blob was made by {}, not by {}", label.backend, source_.name)
                      : fmt::format("{} loads no blobs", source_.name));
  }
  const lbb_blob_label given = given_label(label);
  const GivenOptions given_options(options);
  const std::string device_name(device);
  return called(name(), "check_blob", [&](lbb_error* error) {
    return state->slots().check_blob(state->handle(), &given, device_name.c_str(), given_options.get(), error);
  });
}

Result<std::unique_ptr<Executable>> PluginBackend::load_blob(const Blob& blob, std::string_view device,
                                                             const CompileOptions& options) {
  LB_RETURN_IF_ERROR(check(blob, device, options));
  if (blob.bytes.bytes.empty()) return Status(StatusCode::kIncompatibleBlob, "the blob is empty");
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  LB_ASSIGN_OR_RETURN(const ListedDevice listed, device_of(*state, device));
  LB_RETURN_IF_ERROR(check_present(listed.device, options));
  LB_RETURN_IF_ERROR(check_options(listed.device, options));
  LB_RETURN_IF_ERROR(core::check_not_hung(listed.device.id(), "model"));
  const lbb_blob_label given = given_label(blob);
  const GivenOptions given_options(options);
  const std::shared_ptr<const void> owner = blob.bytes.owner;
  lbb_executable* handle = nullptr;
  LB_RETURN_IF_ERROR(called(name(), "load_blob", [&](lbb_error* error) {
    return state->slots().load_blob(state->handle(), blob.bytes.bytes.data(), blob.bytes.bytes.size(), &given,
                                    listed.device.name.c_str(), given_options.get(), &handle, error);
  }));
  LB_ASSIGN_OR_RETURN(auto executable, PluginExecutable::create(state, handle, owner, /*from_blob=*/true));
  return std::unique_ptr<Executable>(std::move(executable));
}

std::string PluginBackend::why_not(std::string_view device) {
  const auto state = this->state();
  if (!state.ok() || (*state)->slots().why_not == nullptr) return {};
  const std::string device_name(device);
  lbb_text text;
  const Status asked = called_without_error(
      name(), "why_not", [&] { (*state)->slots().why_not((*state)->handle(), device_name.c_str(), &text); });
  return asked.ok() ? core::printable(text.text, Status::kBriefMax) : asked.to_string();
}

Result<std::string> PluginBackend::known_errors() {
  LB_ASSIGN_OR_RETURN(const StatePointer state, this->state());
  if (state->slots().known_errors == nullptr) return std::string();
  lbb_text text;
  LB_RETURN_IF_ERROR(called(name(), "known_errors", [&](lbb_error* error) {
    return state->slots().known_errors(state->handle(), &text, error);
  }));
  return std::move(text.text);
}

core::BackendDiagnosis PluginBackend::diagnosis(const Result<std::vector<Device>>* /*devices*/) {
  lbb_diagnosis made;
  const auto state = this->state();
  if (source_.trace) made.diagnosis.search = source_.trace();
  made.diagnosis.install_hint = source_.install_hint;
  // It is there because somebody has put it there.
  made.diagnosis.library_is_expected = true;
  if (!state.ok() || (*state)->slots().diagnose == nullptr) return std::move(made.diagnosis);
  const Status told =
      called_without_error(name(), "diagnose", [&] { (*state)->slots().diagnose((*state)->handle(), &made); });
  if (!told.ok()) made.diagnosis.unavailable.push_back({"diagnosis", told.to_string()});
  return std::move(made.diagnosis);
}

core::Capabilities PluginBackend::capabilities() {
  core::Capabilities all{.blobs = this, .virtual_devices = this, .known_errors = this, .device_advice = this};
  const lbb_table* const slots = slots_;
  if (slots == nullptr) return all;
  if (slots->compile == nullptr) all.blobs = nullptr;
  if (slots->virtual_devices == nullptr) all.virtual_devices = nullptr;
  if (slots->known_errors == nullptr) all.known_errors = nullptr;
  if (slots->why_not == nullptr) all.device_advice = nullptr;
  return all;
}

Result<std::shared_ptr<DeviceBuffer>> PluginBackend::create_buffer(std::string_view device, std::uint64_t size) {
  LB_ASSIGN_OR_RETURN(StatePointer state, this->state());
  return DeviceBuffer::create(std::move(state), device, size);
}

}  // namespace latebind::plugin
