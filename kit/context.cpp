#include "kit/context.h"

#include <fmt/format.h>

#include <vector>

namespace latebind::kit {

core::Result<std::shared_ptr<core::Backend>> Context::make_backend() {
  plugin::PluginPointer opened;
  if (subject_.is_plugin()) {
    LB_ASSIGN_OR_RETURN(opened, plugin());
  }
  return subject_.make_backend(opened);
}

core::Result<core::Backend*> Context::backend() {
  if (!backend_) {
    LB_ASSIGN_OR_RETURN(backend_, make_backend());
  }
  return backend_.get();
}

core::Result<plugin::PluginPointer> Context::plugin() {
  if (!plugin_) {
    step("opening the library");
    LB_ASSIGN_OR_RETURN(plugin_, subject_.open());
  }
  return plugin_;
}

core::Result<core::Device> Context::device() {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, this->backend());
  step("devices()");
  LB_ASSIGN_OR_RETURN(const std::vector<core::Device> devices, backend->devices());
  for (const core::Device& device : devices) {
    if (device.name == options_.device) return device;
  }
  return core::Status(core::StatusCode::kDeviceNotFound,
                      fmt::format("devices() does not list {} any more", options_.device));
}

}  // namespace latebind::kit
