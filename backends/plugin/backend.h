// PluginBackend: a backend in a shared library of its own, behind the contract of latebind/latebind_backend.h.
//
// Its owner says how the library is found and opened (PluginSource); nothing is opened before the first question. Every
// pointer, size, text and number that the plug-in returns is checked, and what is wrong with it is named in an error
// (kInternal). After fork(), a plug-in that its parent has opened is kLibraryUnusable. May be used from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/plugin/buffer.h"
#include "backends/plugin/load_plugin.h"
#include "backends/plugin/model_form.h"
#include "backends/plugin/state.h"
#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"
#include "core/threads/mutex.h"

namespace latebind::plugin {

struct PluginSource {
  // The name of the backend, which the library must confirm.
  std::string name;
  // Finds the library and loads it (load_plugin()). Called at the first question and, if it fails, at each later one;
  // by one thread at a time.
  std::function<core::Result<PluginPointer>()> open;
  // (optional) Returns where the library was looked for.
  std::function<std::vector<core::SearchStep>()> trace = nullptr;
  // What to type to install it; may be empty.
  std::string install_hint{};
};

class PluginBackend final : public core::Backend,
                            public core::Blobs,
                            public core::VirtualDevices,
                            public core::DeviceAdvice,
                            public core::KnownErrors {
 public:
  // `settings` has values by Setting::key. Opens nothing.
  PluginBackend(PluginSource source, core::BackendSettingTexts settings)
      : source_(std::move(source)), settings_(std::move(settings)) {}

  [[nodiscard]] std::string_view name() const override { return source_.name; }
  [[nodiscard]] core::Status available() override;
  [[nodiscard]] core::Result<std::string> runtime_version() override;
  [[nodiscard]] core::Result<std::vector<core::Device>> devices() override;
  [[nodiscard]] core::Result<std::unique_ptr<core::Executable>> load(const core::Model& model, std::string_view device,
                                                                     const core::CompileOptions& options) override;
  [[nodiscard]] core::BackendDiagnosis diagnosis(const core::Result<std::vector<core::Device>>* devices) override;
  // Before the library is open, nothing is known to be missing; functions without a slot return kUnsupported or
  // nothing.
  [[nodiscard]] core::Capabilities capabilities() override;

  [[nodiscard]] core::Result<core::Blob> compile(const core::Model& model, std::string_view device,
                                                 const core::CompileOptions& options, core::LeftNodes& left) override;
  [[nodiscard]] core::Result<core::LoadedModel> load_exporting(const core::Model& model, std::string_view device,
                                                               const core::CompileOptions& options) override;
  [[nodiscard]] core::Status check(const core::BlobLabel& label, std::string_view device,
                                   const core::CompileOptions& options) override;
  [[nodiscard]] core::Result<std::unique_ptr<core::Executable>> load_blob(const core::Blob& blob,
                                                                          std::string_view device,
                                                                          const core::CompileOptions& options) override;
  [[nodiscard]] core::Result<std::vector<core::Device>> virtual_devices() override;
  [[nodiscard]] std::string why_not(std::string_view device) override;
  [[nodiscard]] core::Result<std::string> known_errors() override;

  // Returns the open plug-in; opens it if it is not open.
  [[nodiscard]] core::Result<PluginPointer> plugin();
  // Allocates memory on a device. Errors: those of DeviceBuffer::create().
  [[nodiscard]] core::Result<std::shared_ptr<DeviceBuffer>> create_buffer(std::string_view device, std::uint64_t size);

 private:
  struct ListedDevice {
    core::Device device;
    std::uint32_t reads = 0;
  };

  [[nodiscard]] core::Result<StatePointer> state();
  [[nodiscard]] core::Status open() LB_REQUIRES(mutex_);
  [[nodiscard]] core::Result<std::vector<core::Device>> list(const State& state, bool is_virtual);
  // Returns the device of this name, virtual ones included; kDeviceNotFound names those that are there.
  [[nodiscard]] core::Result<ListedDevice> device_of(const State& state, std::string_view name);
  [[nodiscard]] core::Result<std::unique_ptr<const GivenModel>> give(const State& state, const core::Model& model,
                                                                     const ListedDevice& device,
                                                                     const core::CompileOptions& options) const;

  const PluginSource source_;
  const core::BackendSettingTexts settings_;
  core::Mutex mutex_;
  PluginPointer plugin_ LB_GUARDED_BY(mutex_);
  StatePointer state_ LB_GUARDED_BY(mutex_);
  std::atomic<const lbb_table*> slots_{nullptr};  // of plugin_
  // The devices that were listed so far, by name.
  core::Mutex devices_mutex_;
  std::map<std::string, ListedDevice, std::less<>> devices_ LB_GUARDED_BY(devices_mutex_);
};

}  // namespace latebind::plugin
