#include "backends/onnxruntime/plugin_providers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/onnxruntime/needed_libraries.h"
#include "backends/onnxruntime/register_provider.h"
#include "backends/onnxruntime/targets.h"
#include "core/log.h"

namespace latebind::onnxruntime {
namespace {

using core::DeviceKind;
using core::Result;
using core::Status;
using core::StatusCode;

// The reason for a device that only_compiles().
std::string why_it_only_compiles(const PluginDevice& device) {
  const KnownProvider* const known = known_provider(device.provider);
  std::string targets;
  if (known != nullptr) {
    for (const Target& target : known->targets)
      targets += fmt::format("{}{}", targets.empty() ? "" : ", ", device_name({known, &target}));
  }
  return fmt::format(
      "the hardware of {} is not in this machine, and its CPU device does not run models: its compiler works there, "
      "for {} (`latebind devices --virtual`)",
      device.provider, targets);
}

}  // namespace

PluginProviders::PluginProviders(std::shared_ptr<const Environment> environment, PluginOptions options)
    : environment_(std::move(environment)), options_(std::move(options)) {}

std::vector<PluginDevice> PluginProviders::devices() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  return offered().to_run;
}

Result<PluginDevice> PluginProviders::find(std::string_view name) {
  const core::MutexLock lock(mutex_);
  look();
  auto [found, compilers] = offered();
  std::string names;
  for (PluginDevice& one : found) {
    if (one.device.name == name) return std::move(one);
    names += ", " + one.device.name;
  }
  for (const PluginDevice& one : compilers) {
    if (one.device.name != name) continue;
    return Status(StatusCode::kUnsupported, fmt::format("onnxruntime:{}: {}", name, why_it_only_compiles(one)));
  }
  return Status(StatusCode::kDeviceNotFound, fmt::format("onnxruntime has no device '{}'; it has CPU{}", name, names));
}

Result<PluginDevice> PluginProviders::any_of(std::string_view provider) {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  // Devices with the vendor's hardware precede the CPU, on which only the compiler runs.
  const auto [to_run, to_compile] = offered();
  std::optional<PluginDevice> best;
  for (const PluginDevice& one : to_run) {
    if (one.provider == provider && (!best || best->device.kind == DeviceKind::kCpu)) best = one;
  }
  const auto compiler = std::ranges::find(to_compile, provider, &PluginDevice::provider);
  if (!best && compiler != to_compile.end()) best = *compiler;
  if (best) return *std::move(best);
  const KnownProvider* const known = known_provider(provider);
  for (const Known& one : known_) {
    if (registration_name(one.file) != provider) continue;
    if (!one.refusal.ok()) return one.refusal;
    return Status(StatusCode::kNoDevice, fmt::format("{} offers no device on this machine", one.file));
  }
  return Status(StatusCode::kLibraryNotFound,
                fmt::format("{} was not found{}{}", provider, known != nullptr ? ": " : "",
                            known != nullptr ? install_command(*known) : ""));
}

std::string PluginProviders::why_not(std::string_view device) {
  const KnownProvider* const known = known_provider_of_device(device);
  if (known == nullptr) return {};
  const auto found = any_of(known->provider);
  return found.ok() ? std::string() : std::string(found.status().message());
}

std::vector<core::UnavailablePart> PluginProviders::unavailable() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  if (trace_.empty() && known_.empty()) look();
  std::vector<core::UnavailablePart> parts;
  for (const Known& one : known_) {
    const std::string name = registration_name(one.file);
    if (!one.refusal.ok()) {
      parts.push_back({name, one.refusal.to_string()});
    } else if (one.registered && one.devices.empty()) {
      parts.push_back({name, fmt::format("{} offers no device on this machine", one.file)});
    }
  }
  for (const PluginDevice& one : offered().to_compile)
    parts.push_back({one.device.name, why_it_only_compiles(one)});
  return parts;
}

std::vector<core::SearchStep> PluginProviders::trace() {
  const core::LogHold hold;
  const core::MutexLock lock(mutex_);
  look();
  return trace_;
}

OfferedDevices PluginProviders::offered() const {
  std::vector<PluginDevice> all;
  for (const Known& one : known_)
    all.insert(all.end(), one.devices.begin(), one.devices.end());
  return sort_devices(std::move(all));
}

void PluginProviders::ask(Known& known) {
  const Library& library = environment_->library();
  if (!library.plugin.has_devices()) {
    known.refusal =
        Status(StatusCode::kUnsupported, fmt::format("plugin providers need ONNX Runtime 1.{} or newer; this is {}",
                                                     abi::kDevicesSince, library.version));
    return;
  }
  // Without the driver, not even a process is started.
  if (const KnownProvider* const one = known_provider_of_file(core::last_part(known.file), core::own_system())) {
    known.refusal = check_driver(*one);
    known.asked = std::chrono::steady_clock::now();
    if (!known.refusal.ok()) return;
  }
  known.refusal = try_provider(options_.trial, library.file, library.version, known.file);
  known.asked = std::chrono::steady_clock::now();  // taken after the trial, which may have taken longer than
                                                   // refusal_time
  if (!known.refusal.ok()) return;
  auto devices = register_provider(*environment_, known.file);
  known.refusal = devices.status();
  if (!devices.ok()) return;
  known.registered = true;
  known.devices = *std::move(devices);
}

void PluginProviders::look() {
  trace_.clear();
  const auto facts = ProviderFacts::gather(options_.paths, environment_->library().file);
  for (const auto& candidate : provider_list(facts, core::FileSystem::real())) {
    trace_.push_back({candidate.place, candidate.source, candidate.why_not, false});
    if (!candidate.why_not.empty()) continue;
    auto found = std::ranges::find(known_, candidate.place, &Known::file);
    if (found == known_.end()) {
      known_.push_back({.file = candidate.place, .source = candidate.source, .devices = {}});
      found = known_.end() - 1;
    }
    const bool refused_now =
        !found->refusal.ok() && std::chrono::steady_clock::now() - found->asked < options_.refusal_time;
    if (!found->registered && !refused_now) ask(*found);
    core::SearchStep& step = trace_.back();
    step.opened = found->registered;
    step.outcome =
        found->registered ? fmt::format("registered, {} devices", found->devices.size()) : found->refusal.to_string();
  }
}

}  // namespace latebind::onnxruntime
