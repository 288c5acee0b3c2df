#include "app/backends.h"

#include <memory>
#include <span>

#include "app/plugins.h"
#include "backends/native/backend.h"
#include "backends/onnxruntime/backend.h"
#include "backends/openvino/backend.h"
#include "core/log.h"
#include "core/vendor/child_trial.h"

namespace latebind::app {
namespace {

struct ListedBackend {
  std::string_view name;
  std::span<const core::BackendSetting> settings;
  std::shared_ptr<core::Backend> (*make)(const core::BackendSettingTexts& texts);
  std::span<const core::ChildCommand> (*child_commands)() = nullptr;
};

// In order of preference.
constexpr ListedBackend kBackends[] = {
    {"openvino", openvino::kSettings, openvino::configured_backend},
    {"onnxruntime", onnxruntime::kSettings, onnxruntime::configured_backend, onnxruntime::child_commands},
    {"native", native::kSettings, native::configured_backend}};

constexpr core::BackendSetting kShared[] = {
    {kPluginPath, plugin::kPathVariable, "--backends-path", "PATHS",
     "Manifests of plug-ins (NAME.json) or folders with them, to search before all other places: full paths separated "
     "by ':' (';' on Windows) or commas. none in the list ends the search there. Empty: only the known places are "
     "searched (docs/plugins.md)."},
    {kTrialProgram, core::kTrialVariable, "", "PATH",
     "The program `latebind`, which tries plug-ins and ONNX Runtime's plugin providers, and compiles with these, in "
     "separate processes. Empty: this program, or the one beside Latebind's library."},
    {kIsolate, kIsolateVariable, "--isolate", "NAMES",
     "Plug-ins that run in separate processes, as a list with commas; all for every plug-in. A crash then costs only "
     "the "
     "runs in its process, and each run takes some microseconds longer (docs/plugins.md)."}};

}  // namespace

std::vector<std::string_view> built_in_backends() {
  std::vector<std::string_view> names;
  for (const ListedBackend& backend : kBackends)
    names.push_back(backend.name);
  return names;
}

std::vector<core::BackendSetting> backend_settings() {
  std::vector<core::BackendSetting> settings;
  for (const ListedBackend& backend : kBackends)
    settings.insert(settings.end(), backend.settings.begin(), backend.settings.end());
  settings.insert(settings.end(), std::begin(kShared), std::end(kShared));
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
  add_plugins(registry, texts);
  return registry;
}

std::vector<core::ChildCommand> child_commands() {
  std::vector<core::ChildCommand> commands{contact_command(), hold_command()};
  for (const ListedBackend& backend : kBackends) {
    if (backend.child_commands == nullptr) continue;
    const auto of_this = backend.child_commands();
    commands.insert(commands.end(), of_this.begin(), of_this.end());
  }
  return commands;
}

}  // namespace latebind::app
