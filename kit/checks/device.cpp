// The group "device": what a backend says about its devices and about itself.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/backend/questions.h"
#include "core/text/utf8.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/graph_model.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Device;
using core::Result;
using core::Status;

Result<Finding> be_available(Context& context) {
  if (context.subject().is_plugin()) {
    // First without Latebind's host in between, so that the kit's host sees the calls.
    LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
    context.step("create()");
    LB_ASSIGN_OR_RETURN(const auto state, RawState::create(plugin, context.subject().settings()));
    context.step("available()");
    if (const Status status = state->available(); !status.ok()) return status.with_context("it is not available");
    context.step("destroy()");
  }
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  context.step("available()");
  if (const Status status = backend->available(); !status.ok()) return status.with_context("it is not available");
  context.step("runtime_version()");
  LB_ASSIGN_OR_RETURN(const std::string version, backend->runtime_version());
  Finding finding = passed(version);
  finding.data = core::Json::object({{"name", backend->name()}, {"version", version}});
  return finding;
}

bool is_same(const Device& a, const Device& b) {
  return a.name == b.name && a.kind == b.kind && a.full_name == b.full_name && a.traits == b.traits;
}

Result<Finding> list_devices(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  context.step("devices()");
  LB_ASSIGN_OR_RETURN(const auto devices, backend->devices());
  if (devices.empty()) return wrong("devices() lists none, so nothing can be checked");
  std::set<std::string> names;
  core::Json data = core::Json::array();
  for (const Device& device : devices) {
    if (!names.insert(device.name).second) return wrong(fmt::format("devices() lists {} twice", device.name));
    if (device.full_name.empty()) return wrong(fmt::format("{} has no full name", device.name));
    data.push_back(core::Json::object({{"name", device.name}, {"full_name", device.full_name}}));
  }
  context.step("devices(), the second time");
  LB_ASSIGN_OR_RETURN(const auto again, backend->devices());
  if (!std::ranges::equal(devices, again, is_same)) return wrong("devices() answers differently the second time");
  Finding finding = passed(fmt::format("{}", fmt::join(names, ", ")));
  finding.data = std::move(data);
  return finding;
}

Result<Finding> refuse_unknown_device(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const auto all, samples(/*is_static=*/false));
  constexpr const char* kUnknown = "TOASTER.7";
  context.step("load() on an unknown device");
  const Status status = backend->load(model_of(all.front().graph), kUnknown, {}).status();
  if (status.code() != core::StatusCode::kDeviceNotFound)
    return wrong(fmt::format("load() on the unknown device {} gives {}: {}", kUnknown, core::name_of(status.code()),
                             status.to_string()));
  if (status.to_string().find(kUnknown) == std::string::npos)
    return wrong(fmt::format("the error does not name the device {}: {}", kUnknown, status.to_string()));
  context.step("why_not()");
  const std::string advice = core::why_not(*backend, kUnknown);
  return passed(advice.empty() ? std::string() : advice);
}

Result<Finding> list_virtual_devices(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  context.step("virtual_devices()");
  LB_ASSIGN_OR_RETURN(const auto devices, core::virtual_devices_of(*backend));
  if (devices.empty()) return absent("it has no virtual devices");
  LB_ASSIGN_OR_RETURN(const auto real, backend->devices());
  for (const Device& device : devices) {
    if (!device.is_virtual()) return wrong(fmt::format("virtual_devices() lists {}, which is present", device.name));
    if (std::ranges::find(real, device.name, &Device::name) != real.end())
      return wrong(fmt::format("{} is a device and a virtual device", device.name));
  }
  return passed(fmt::format("{} virtual devices", devices.size()));
}

Result<Finding> diagnose(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  context.step("diagnose()");
  const core::BackendDiagnosis diagnosis = backend->diagnosis(nullptr);
  for (const core::UnavailablePart& part : diagnosis.unavailable) {
    if (part.name.empty() || part.reason.empty()) return wrong("a part that cannot be used has no name or no reason");
  }
  return passed(fmt::format("{} places, {} unavailable parts", diagnosis.search.size(), diagnosis.unavailable.size()));
}

constexpr Check kDeviceChecks[] = {
    {.name = "device.available",
     .what = "The backend can be used on this machine, and has a version.",
     .run = be_available,
     .is_prerequisite = true},
    {.name = "device.list",
     .what = "The devices have different names, and are the same in a second list.",
     .run = list_devices,
     .is_prerequisite = true},
    {.name = "device.unknown",
     .what = "A device that does not exist is refused with LBB_DEVICE_NOT_FOUND and its name.",
     .run = refuse_unknown_device},
    {.name = "device.virtual",
     .what = "Virtual devices say that they are virtual, and none is also present.",
     .run = list_virtual_devices},
    {.name = "device.diagnosis", .what = "The diagnosis has a reason for each part.", .run = diagnose}};

}  // namespace

std::span<const Check> device_checks() {
  return kDeviceChecks;
}

}  // namespace latebind::kit
