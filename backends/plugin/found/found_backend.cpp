#include "backends/plugin/found/found_backend.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/threads/mutex.h"

namespace latebind::plugin {
namespace {

using core::CompileOptions;
using core::Device;
using core::Executable;
using core::Model;
using core::Result;
using core::Status;
using core::StatusCode;

class FoundBackend final : public core::Backend {
 public:
  using Inner = std::shared_ptr<core::Backend>;

  FoundBackend(PluginEntry entry, OpenPlugin open, FoundOptions options)
      : entry_(std::move(entry)), open_(std::move(open)), options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return entry_.manifest.name; }

  [[nodiscard]] Status available() override {
    LB_ASSIGN_OR_RETURN(const Inner inner, opened());
    LB_RETURN_IF_ERROR(inner->available());
    return check_seen({});
  }

  [[nodiscard]] Result<std::string> runtime_version() override {
    LB_ASSIGN_OR_RETURN(const Inner inner, usable());
    return inner->runtime_version();
  }

  [[nodiscard]] Result<std::vector<Device>> devices() override {
    LB_ASSIGN_OR_RETURN(const Inner inner, usable());
    LB_ASSIGN_OR_RETURN(auto devices, inner->devices());
    LB_RETURN_IF_ERROR(check_seen(devices));
    return devices;
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const Inner inner, usable());
    return inner->load(model, device, options);
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<Device>>* devices) override {
    core::BackendDiagnosis diagnosis;
    const auto inner = opened();
    if (inner.ok()) diagnosis = (*inner)->diagnosis(devices);
    // The user has put the plug-in there; a library of its vendor that is missing is the plug-in's own matter.
    if (!inner.ok()) diagnosis.library_is_expected = true;
    diagnosis.is_built_in = false;
    core::SearchStep manifest{entry_.file, entry_.source, {}, inner.ok()};
    manifest.outcome = inner.ok() ? "opened " + entry_.library : inner.status().to_string();
    diagnosis.search.insert(diagnosis.search.begin(), std::move(manifest));
    if (diagnosis.install_hint.empty())
      diagnosis.install_hint =
          fmt::format("a version of the plug-in that works here ({} is its manifest)", entry_.file);
    return diagnosis;
  }

  [[nodiscard]] core::Capabilities capabilities() override {
    const auto inner = usable();
    return inner.ok() ? (*inner)->capabilities() : core::Capabilities();
  }

 private:
  // Returns the plug-in's backend. The first call opens the library.
  Result<Inner> opened() {
    if (!entry_.why_not.empty()) {
      return Status(StatusCode::kLibraryUnusable,
                    fmt::format("the plug-in {} cannot be used: {}", entry_.file, entry_.why_not));
    }
    const core::LogHold hold;
    const core::MutexLock lock(mutex_);
    if (inner_) return inner_;
    LB_RETURN_IF_ERROR(refused_now());
    auto opened = open_now();
    if (!opened.ok()) return refuse(opened.status());
    return opened;
  }

  Status make_contact(bool again) LB_REQUIRES(mutex_) {
    auto report = first_contact(options_.trial, entry_.library, entry_.manifest.name, options_.settings, again);
    if (!report.ok()) return refuse(report.status());
    report_ = *std::move(report);
    return {};
  }

  Result<Inner> open_now() LB_REQUIRES(mutex_) {
    LB_RETURN_IF_ERROR(make_contact(false));
    LB_ASSIGN_OR_RETURN(auto opened, open_(entry_.library, report_.digest, options_.settings));
    const Inner& inner = opened.backend;
    if (inner->name() != entry_.manifest.name) {
      return Status(StatusCode::kLibraryUnusable, fmt::format("{} is the plug-in '{}', and its manifest says '{}'",
                                                              entry_.library, inner->name(), entry_.manifest.name));
    }
    core::log(core::LogLevel::kDebug, fmt::format("opened the plug-in {}", entry_.library));
    inner_ = inner;
    return inner_;
  }

  // Makes contact again if the earlier one did not see what is there now, such as devices with a newer driver.
  Status check_seen(const std::vector<Device>& devices) {
    const core::LogHold hold;
    const core::MutexLock lock(mutex_);
    LB_RETURN_IF_ERROR(refused_now());
    if (report_.covers(devices)) return {};
    LB_RETURN_IF_ERROR(make_contact(true));
    // The child may see less than this process, which may hold the device; the trial is not repeated for that.
    report_.availability = {};
    for (const Device& device : devices)
      report_.devices.emplace_back(device.name, device.runtime_version);
    return {};
  }

  // The plug-in's backend, unless it was refused since.
  Result<Inner> usable() {
    LB_ASSIGN_OR_RETURN(Inner inner, opened());
    const core::MutexLock lock(mutex_);
    LB_RETURN_IF_ERROR(refused_now());
    return inner;
  }

  [[nodiscard]] Status refused_now() const LB_REQUIRES(mutex_) {
    const bool holds = !refusal_.ok() && std::chrono::steady_clock::now() - refused_at_ < options_.refusal_time;
    return holds ? refusal_ : Status();
  }
  Status refuse(const Status& why) LB_REQUIRES(mutex_) {
    refusal_ = why;
    // Taken after the trial, which may have taken longer than refusal_time.
    refused_at_ = std::chrono::steady_clock::now();
    return why;
  }

  const PluginEntry entry_;
  const OpenPlugin open_;
  const FoundOptions options_;
  core::Mutex mutex_;
  Inner inner_ LB_GUARDED_BY(mutex_);
  ContactReport report_ LB_GUARDED_BY(mutex_);
  Status refusal_ LB_GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point refused_at_ LB_GUARDED_BY(mutex_){};
};

}  // namespace

std::shared_ptr<core::Backend> make_found_backend(PluginEntry entry, OpenPlugin open, FoundOptions options) {
  return std::make_shared<FoundBackend>(std::move(entry), std::move(open), std::move(options));
}

}  // namespace latebind::plugin
