// Version, log, runtime and devices of the C interface.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/settings.h"
#include "core/backend/questions.h"
#include "core/bundle/compile.h"
#include "core/log.h"
#include "core/platform/dynamic_library.h"
#include "core/threads/background_work.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace app = latebind::app;

uint32_t lb_abi_version(void) {
  return LATEBIND_ABI_VERSION;
}

const char* lb_version(void) {
  return LATEBIND_VERSION;
}

void lb_set_log(lb_log_callback callback, void* context, int32_t least) {
  const latebind::platform::NoThreadCancellation whole;
  core::set_log_sink({callback, context}, static_cast<core::LogLevel>(least));
}

lb_code lb_runtime_create(const lb_options* options, lb_runtime** runtime) {
  return api::guarded([&]() -> core::Status {
    if (runtime == nullptr) return api::misuse("lb_runtime_create: the pointer to the runtime is NULL");
    *runtime = nullptr;
    latebind::platform::keep_own_module();
    auto made = std::make_unique<lb_runtime>();
    made->shared =
        std::make_shared<const lb_runtime::Shared>(options != nullptr ? options->settings : app::EffectiveSettings());
    // Checked here: otherwise every load would fail with an error that does not point to the runtime's options.
    LB_RETURN_IF_ERROR(app::placement_of(made->shared->settings, made->shared->registry)
                           .status()
                           .with_context("options of the runtime"));
    *runtime = made.release();
    return {};
  });
}

void lb_runtime_destroy(lb_runtime* runtime) {
  if (runtime != nullptr) api::destroy(runtime, runtime->shared->made);
}

lb_code lb_runtime_check(const lb_runtime* runtime) {
  return api::guarded_work([&]() -> core::Status {
    if (runtime == nullptr) return api::misuse("lb_runtime_check: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    std::string remedy;
    std::string reasons;
    for (const auto& backend : runtime->shared->registry.all()) {
      core::Status status = backend->available();
      std::string why = "it has no device here";
      if (status.ok()) {
        const auto devices = backend->devices();
        core::register_exit_mark();
        status = devices.status();
        if (devices.ok() && std::ranges::any_of(*devices, [](const auto& one) { return !one.traits.graphs_only; }))
          return {};
        if (devices.ok() && !devices->empty()) why = "it runs only embedding models";
      }
      if (remedy.empty()) remedy = backend->diagnosis(nullptr).install_hint;
      if (!status.ok()) why = status.brief();
      reasons += fmt::format("; {}: {}", backend->name(), why);
    }
    return core::Status(core::StatusCode::kNoDevice,
                        fmt::format("nothing here can run a model; to install a runtime: {}{}", remedy, reasons));
  });
}

// A device list owns every string that it gives out.
struct lb_device_list {
  struct Entry {
    core::Device device;
    std::string id;
    std::map<std::string, std::string> facts;
    std::vector<const char*> keys;
    std::vector<const char*> values;
  };
  struct BackendEntry {
    core::BackendReport report;
    std::string reason;
  };
  std::vector<Entry> devices;
  std::vector<BackendEntry> backends;
};

namespace {

// More targets are a mistake.
constexpr size_t kTargetsMax = 4096;

void add(lb_device_list& list, core::Device device) {
  lb_device_list::Entry entry;
  entry.id = device.id();
  entry.facts = device.facts();
  entry.device = std::move(device);
  list.devices.push_back(std::move(entry));
}

// Called once all devices are in the list, since adding one moves the strings.
void point_at_metadata(lb_device_list& list) {
  for (auto& entry : list.devices) {
    for (const auto& [key, value] : entry.facts) {
      entry.keys.push_back(key.c_str());
      entry.values.push_back(value.c_str());
    }
  }
}

}  // namespace

lb_code lb_device_list_create(const lb_runtime* runtime, int32_t virtual_too, lb_device_list** list) {
  return api::guarded_work([&]() -> core::Status {
    if (runtime == nullptr || list == nullptr) return api::misuse("lb_device_list_create: NULL was given");
    *list = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    auto made = std::make_unique<lb_device_list>();
    for (core::BackendReport& report : runtime->shared->engine.report()) {
      const auto backend = runtime->shared->registry.find(report.name);
      if (virtual_too != 0 && backend) {
        LB_ASSIGN_OR_RETURN(auto absent, core::virtual_devices_of(*backend));
        std::ranges::move(absent, std::back_inserter(report.devices));
      }
      for (core::Device& device : report.devices)
        add(*made, std::move(device));
      report.devices.clear();
      lb_device_list::BackendEntry entry;
      if (!report.status.ok()) entry.reason = report.status.to_string();
      entry.report = std::move(report);
      made->backends.push_back(std::move(entry));
    }
    core::register_exit_mark();
    point_at_metadata(*made);
    *list = made.release();
    return {};
  });
}

lb_code lb_device_list_targets(const lb_runtime* runtime, const char* const* targets, size_t count,
                               lb_device_list** list) {
  return api::guarded_work([&]() -> core::Status {
    if (runtime == nullptr || list == nullptr || (targets == nullptr && count > 0)) {
      return api::misuse("lb_device_list_targets: NULL was given");
    }
    *list = nullptr;
    if (count > kTargetsMax) return api::misuse(fmt::format("lb_device_list_targets: {} targets", count));
    LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
    auto made = std::make_unique<lb_device_list>();
    const core::CompileTargets known(runtime->shared->registry);
    core::register_exit_mark();
    for (size_t i = 0; i < count; ++i) {
      if (targets[i] == nullptr) return api::misuse(fmt::format("lb_device_list_targets: target {} is NULL", i));
      LB_ASSIGN_OR_RETURN(core::CompileTarget target, known.find(targets[i]));
      add(*made, std::move(target.device));
    }
    point_at_metadata(*made);
    *list = made.release();
    return {};
  });
}

void lb_device_list_destroy(lb_device_list* list) {
  delete list;
}

size_t lb_device_list_count(const lb_device_list* list) {
  return list != nullptr ? list->devices.size() : 0;
}

lb_code lb_device_list_get(const lb_device_list* list, size_t index, lb_device* device) {
  return api::guarded([&]() -> core::Status {
    if (index >= lb_device_list_count(list)) return api::misuse("lb_device_list_get: no device of this index");
    const lb_device_list::Entry& entry = list->devices[index];
    lb_device value{};
    value.id = entry.id.c_str();
    value.backend = entry.device.backend.c_str();
    value.name = entry.device.name.c_str();
    value.kind = static_cast<int32_t>(entry.device.kind);
    value.is_virtual = entry.device.is_virtual() ? 1 : 0;
    value.full_name = entry.device.full_name.c_str();
    value.runtime_version = entry.device.runtime_version.c_str();
    value.metadata_count = entry.keys.size();
    value.metadata_keys = entry.keys.data();
    value.metadata_values = entry.values.data();
    return api::write_struct(value, device, "lb_device");
  });
}

size_t lb_device_list_backend_count(const lb_device_list* list) {
  return list != nullptr ? list->backends.size() : 0;
}

lb_code lb_device_list_backend(const lb_device_list* list, size_t index, lb_backend* backend) {
  return api::guarded([&]() -> core::Status {
    if (index >= lb_device_list_backend_count(list)) {
      return api::misuse("lb_device_list_backend: no backend of this index");
    }
    const lb_device_list::BackendEntry& entry = list->backends[index];
    lb_backend value{};
    value.name = entry.report.name.c_str();
    value.code = static_cast<lb_code>(entry.report.status.code());
    value.reason = entry.reason.c_str();
    value.runtime_version = entry.report.runtime_version.c_str();
    value.install_hint = entry.report.diagnosis.install_hint.c_str();
    value.known_errors = entry.report.known_errors.c_str();
    return api::write_struct(value, backend, "lb_backend");
  });
}
