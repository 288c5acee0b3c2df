#include "app/backends.h"

#include <memory>
#include <span>

#include "backends/native/backend.h"
#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "core/log.h"

namespace latebind::app {
namespace {

struct ListedBackend {
  std::span<const core::BackendSetting> settings;
  std::shared_ptr<core::Backend> (*make)(const core::BackendSettingTexts& texts);
  std::span<const core::ChildCommand> (*child_commands)() = nullptr;
};

// In order of preference.
constexpr ListedBackend kBackends[] = {
    {openvino::kSettings, openvino::configured_backend},
    {onnxruntime::kSettings, onnxruntime::configured_backend, onnxruntime::child_commands},
    {native::kSettings, native::configured_backend}};

}  // namespace

std::vector<core::BackendSetting> backend_settings() {
  std::vector<core::BackendSetting> settings;
  for (const ListedBackend& backend : kBackends)
    settings.insert(settings.end(), backend.settings.begin(), backend.settings.end());
  return settings;
}

core::Registry make_registry(const core::BackendSettingTexts& texts) {
  core::Registry registry;
  for (const ListedBackend& backend : kBackends) {
    // Fails only for a duplicate name, which is a defect of the list.
    if (const auto status = registry.add(backend.make(texts)); !status.ok()) {
      core::log(core::LogLevel::kError, status.to_string());
    }
  }
  return registry;
}

std::vector<core::ChildCommand> child_commands() {
  std::vector<core::ChildCommand> commands;
  for (const ListedBackend& backend : kBackends) {
    if (backend.child_commands == nullptr) continue;
    const auto of_this = backend.child_commands();
    commands.insert(commands.end(), of_this.begin(), of_this.end());
  }
  return commands;
}

}  // namespace latebind::app
