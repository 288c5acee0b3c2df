#include "backends/onnxruntime/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/onnxruntime/context_model.h"
#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/hardware.h"
#include "backends/onnxruntime/places.h"
#include "backends/onnxruntime/plugin_providers.h"
#include "backends/onnxruntime/provider_compile.h"
#include "backends/onnxruntime/session.h"
#include "backends/onnxruntime/targets.h"
#include "core/log.h"
#include "core/platform/accelerators.h"
#include "core/platform/environment.h"
#include "core/platform/system_info.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_call.h"

namespace latebind::onnxruntime {
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

// Refuses another model for a device that has hung and not returned.
Status check_not_stuck(std::string_view device) {
  return core::check_not_hung(fmt::format("{}:{}", kBackendName, device), "model");
}

class OnnxruntimeBackend final : public core::Backend,
                                 public core::Blobs,
                                 public core::VirtualDevices,
                                 public core::DeviceAdvice {
 public:
  explicit OnnxruntimeBackend(BackendOptions options)
      : loader_(
            wanted_library(core::own_system()),
            [path = options.library_path] {
              return core::SearchFacts::gather(wanted_library(core::own_system()), path);
            },
            open_library),
        options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return kBackendName; }

  [[nodiscard]] Status available() override { return loader_.library().status(); }

  [[nodiscard]] Result<std::vector<Device>> devices() override {
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    LB_ASSIGN_OR_RETURN(const auto providers, vendor.environment->providers());
    Device cpu;
    cpu.backend = kBackendName;
    cpu.name = kCpu;
    cpu.kind = core::DeviceKind::kCpu;
    cpu.full_name = platform::cpu_name();
    cpu.runtime_version = vendor.environment->library().version;
    cpu.traits.provider = "CPUExecutionProvider";
    cpu.traits.precisions = {Precision::kF32};
    cpu.metadata["AvailableProviders"] = fmt::format("{}", fmt::join(providers, ","));
    // Before the CPUs of providers, which depend on it.
    std::vector<Device> devices{std::move(cpu)};
    for (PluginDevice& one : vendor.plugins->devices()) {
      if (one.device.is_virtual()) continue;
      one.device.traits.precisions = {computes_in(one)};
      devices.push_back(std::move(one.device));
    }
    return devices;
  }

  [[nodiscard]] Result<std::vector<Device>> virtual_devices() override {
    std::vector<Device> devices;
    const auto vendor = vendor_now();
    std::vector<PluginDevice> offered;
    if (vendor.ok()) offered = vendor->plugins->devices();
    const std::string version = vendor.ok() ? vendor->environment->library().version : std::string();
    const bool compiles = vendor.ok() && vendor->environment->library().plugin.has_compiler();
    for (PluginDevice& one : offered) {
      if (one.device.is_virtual()) devices.push_back(one.device);
    }
    for (const KnownProvider& known : known_providers()) {
      std::optional<PluginDevice> here;
      if (vendor.ok()) {
        if (auto found = vendor->plugins->any_of(known.provider); found.ok()) here = *std::move(found);
      }
      const std::string compiler = compiles && here ? compiler_file(known, here->library) : std::string();
      for (const Target& target : known.targets) {
        devices.push_back(virtual_device({&known, &target}, compiler, version));
        if (here) {
          // The output of the compiler depends on the provider's version.
          const auto said = here->device.metadata.find("ProviderVersion");
          if (said != here->device.metadata.end()) devices.back().metadata.insert(*said);
        }
        if (!compiler.empty()) continue;
        if (auto missing = why_missing(vendor.ok() ? vendor->plugins.get() : nullptr, known); !missing.empty()) {
          devices.back().traits.virtual_device = {.compiler = core::TargetCompiler::kMissing,
                                                  .missing = std::move(missing)};
        }
      }
    }
    return devices;
  }

  [[nodiscard]] Result<std::string> runtime_version() override {
    LB_ASSIGN_OR_RETURN(const auto library, loader_.library());
    return library->version;
  }

  [[nodiscard]] Result<Blob> compile(const Model& model, std::string_view device, const CompileOptions& options,
                                     core::LeftNodes& left) override {
    left = {};
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    if (device == kCpu) {
      LB_RETURN_IF_ERROR(check_precision(device, Precision::kF32, options));
      return make_blob(*vendor.environment, model, options, SessionKind::kCompile);
    }
    LB_ASSIGN_OR_RETURN(const auto place, find_place(vendor, device));
    LB_RETURN_IF_ERROR(check_precision(device, place.computes_in, options, place.provider));
    if (!compiles(place)) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{} does not compile ahead of time: it runs the model itself", place.use.id));
    }
    Blob blob;
    LB_ASSIGN_OR_RETURN(blob.bytes, compile_in_child(trial_options(), vendor.environment->library().file, place.library,
                                                     std::string(device), model, options, left));
    LB_ASSIGN_OR_RETURN(const auto made, read_context_model(blob.bytes.bytes));
    blob.backend = kBackendName;
    blob.device = device;
    blob.runtime_version = vendor.environment->library().version;
    blob.precision = options.precision;
    blob.compatibility = made.compatibility(place.provider);
    // ONNX Runtime reads it like any model, and gives the provider a copy of the context.
    blob.is_copied = true;
    return blob;
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    LB_RETURN_IF_ERROR(check_not_stuck(device));
    if (device == kCpu) {
      LB_RETURN_IF_ERROR(check_precision(device, Precision::kF32, options));
      LB_ASSIGN_OR_RETURN(auto session, load_model(vendor.environment, model, options));
      return make_executable(std::move(session), options);
    }
    LB_ASSIGN_OR_RETURN(const auto place, find_place_to_run(vendor, device, options));
    auto loaded = load_model(vendor.environment, model, options, &place.use);
    if (!loaded.ok()) {
      const KnownProvider* const known = known_provider(place.provider);
      return known == nullptr ? loaded.status() : explained(*known, loaded.status(), core::own_system());
    }
    return make_executable(*std::move(loaded), options, &place);
  }

  // Loading is slower while the vendor writes its file, so another session writes it later.
  [[nodiscard]] Result<core::LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    if (device != kCpu) return load_compiled(vendor, model, device, options);
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    return core::LoadedModel{std::move(executable), [environment = vendor.environment, model, options] {
                               return make_blob(*environment, model, options, SessionKind::kCompileHere);
                             }};
  }

  [[nodiscard]] Status check(const BlobLabel& label, std::string_view device, const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    const Library& library = vendor.environment->library();
    LB_RETURN_IF_ERROR(check_label(library, label, device, options));
    if (device == kCpu || label.compatibility.empty()) return {};
    LB_ASSIGN_OR_RETURN(const auto place, find_place_to_run(vendor, device, options));
    return check_compatibility(library, place.use, label.compatibility);
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view device,
                                                              const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const auto vendor, vendor_now());
    LB_RETURN_IF_ERROR(check_not_stuck(device));
    LB_RETURN_IF_ERROR(check_label(vendor.environment->library(), blob, device, options));
    if (device != kCpu) {
      LB_ASSIGN_OR_RETURN(const auto place, find_place_to_run(vendor, device, options));
      LB_ASSIGN_OR_RETURN(auto session, load_context(vendor.environment, blob, options, place.use));
      return make_executable(std::move(session), options, &place);
    }
    LB_RETURN_IF_ERROR(check_precision(device, Precision::kF32, options));
    LB_ASSIGN_OR_RETURN(auto session, onnxruntime::load_blob(vendor.environment, blob, options));
    return make_executable(std::move(session), options);
  }

  [[nodiscard]] std::string why_not(std::string_view device) override {
    const auto vendor = vendor_now();
    if (vendor.ok()) return vendor->plugins->why_not(device);
    const KnownProvider* const known = known_provider_of_device(device);
    const bool is_absent = vendor.status().code() == StatusCode::kLibraryNotFound && !loader_.is_expected();
    if (known == nullptr || !is_absent) return {};
    return fmt::format("ONNX Runtime with {} is not installed: install it ({})", known->provider,
                       install_command_with_runtime(*known));
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* devices) override {
    core::BackendDiagnosis diagnosis;
    diagnosis.install_hint = loader_.wanted().install_command;
    diagnosis.search = loader_.trace();
    diagnosis.library_is_expected = loader_.is_expected();
    if (devices != nullptr) {
      diagnosis.hardware = hardware_notes(platform::accelerators(), *devices);
    }
    if (diagnosis.search.empty() || !diagnosis.search.back().opened) return diagnosis;
    if (const auto vendor = vendor_now(); vendor.ok()) {
      auto steps = vendor->plugins->trace();
      diagnosis.search.insert(diagnosis.search.end(), steps.begin(), steps.end());
      diagnosis.unavailable = vendor->plugins->unavailable();
    }
    return diagnosis;
  }

  [[nodiscard]] core::Capabilities capabilities() override {
    return {.blobs = this, .virtual_devices = this, .device_advice = this};
  }

 private:
  // Compiles in a child and loads the result, which can also be cached. A provider that does not compile ahead of time
  // loads the model itself, and there is nothing to cache.
  Result<core::LoadedModel> load_compiled(const Vendor& vendor, const Model& model, std::string_view device,
                                          const CompileOptions& options) {
    LB_RETURN_IF_ERROR(check_not_stuck(device));
    LB_ASSIGN_OR_RETURN(const auto place, find_place_to_run(vendor, device, options));
    const auto load_itself = [&]() -> Result<core::LoadedModel> {
      LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
      return core::LoadedModel{std::move(executable), nullptr};
    };
    if (!compiles(place)) return load_itself();
    core::LeftNodes left;
    auto blob = compile(model, device, options, left);
    if (!blob.ok()) return load_itself();
    LB_ASSIGN_OR_RETURN(auto session, load_context(vendor.environment, *blob, options, place.use));
    session.from_blob = false;
    LB_ASSIGN_OR_RETURN(auto executable, make_executable(std::move(session), options, &place));
    return core::LoadedModel{std::move(executable), [blob = *std::move(blob)]() -> Result<Blob> { return blob; }};
  }

  // Returns why the compiler of a known provider cannot be used, if there is more to say than that it is not installed.
  static std::string why_missing(PluginProviders* plugins, const KnownProvider& known) {
    if (plugins == nullptr) {
      return fmt::format("ONNX Runtime with {} and its compiler {}: {}", known.provider,
                         core::library_name(known.compiler_stem, core::own_system()),
                         install_command_with_runtime(known));
    }
    std::string reason;
    for (core::UnavailablePart& part : plugins->unavailable()) {
      if (part.name == known.provider) reason = std::move(part.reason);
    }
    return reason;
  }

  static Result<Blob> make_blob(const Environment& environment, const Model& model, const CompileOptions& options,
                                SessionKind kind) {
    Blob blob;
    LB_ASSIGN_OR_RETURN(blob.bytes, compile_model(environment, model, options, kind));
    blob.backend = kBackendName;
    blob.device = kCpu;
    blob.runtime_version = environment.library().version;
    blob.precision = options.precision;
    return blob;
  }

  // `place` is null for ONNX Runtime's own CPU.
  static Result<std::unique_ptr<Executable>> make_executable(Session session, const CompileOptions& options,
                                                             const Place* place = nullptr) {
    const Concurrency concurrency = concurrency_of(options);
    core::ActiveConfig active;
    active.backend = kBackendName;
    active.device = place != nullptr ? place->device : std::string(kCpu);
    active.device_full_name = place != nullptr ? place->full_name : platform::cpu_name();
    active.runtime_version = session.environment->library().version;
    active.library_file = session.environment->library().file;
    active.precision = options.precision;
    active.threads = concurrency.threads;
    active.requests = concurrency.requests;
    active.from_cache = session.from_blob;
    active.emulated = place != nullptr && place->target.target != nullptr;
    active.nodes = session.assignment.nodes;
    active.host_nodes = session.assignment.host_nodes;
    return OnnxruntimeExecutable::create(std::move(session), std::move(active));
  }

  [[nodiscard]] TrialOptions trial_options() const {
    TrialOptions trial;
    trial.program = options_.trial_program;
    trial.folder = options_.memory_folder;
    return trial;
  }

  // Returns the vendor state that all queries share. If it could not be created before, it is created again.
  Result<Vendor> vendor_now() {
    const core::LogHold hold;
    LB_ASSIGN_OR_RETURN(auto library, loader_.library());
    const core::MutexLock lock(mutex_);
    if (!vendor_.environment) {
      LB_ASSIGN_OR_RETURN(vendor_.environment, Environment::create(std::move(library)));
      PluginOptions plugins;
      plugins.paths = options_.provider_paths;
      if (plugins.paths.empty()) {
        plugins.paths = provider_paths(platform::trusted_environment(kProvidersVariable).value_or(""));
      }
      plugins.trial = trial_options();
      vendor_.plugins = std::make_shared<PluginProviders>(vendor_.environment, std::move(plugins));
    }
    return vendor_;
  }

  Loader loader_;
  const BackendOptions options_;
  core::Mutex mutex_;
  Vendor vendor_ LB_GUARDED_BY(mutex_);
};

}  // namespace

std::span<const core::ChildCommand> child_commands() {
  static constexpr std::string_view kTrialArguments[] = {"onnxruntime", "provider"};
  static constexpr std::string_view kCompileArguments[] = {"job"};
  static constexpr core::ChildCommand kCommands[] = {
      {kTrialCommand, "Registers a plugin provider and asks for its devices.", kTrialArguments,
       [](std::span<const std::string> arguments) { return run_trial(arguments[0], arguments[1]); }},
      {kCompileCommand, "Compiles as described by a job file.", kCompileArguments,
       [](std::span<const std::string> arguments) { return run_compile_job(arguments[0]); }}};
  return kCommands;
}

std::vector<std::string> provider_paths(std::string_view text) {
  return split_paths(text, core::own_system());
}

std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts) {
  return make_backend({.library_path = core::text_of(texts, "onnxruntime.library"),
                       .provider_paths = provider_paths(core::text_of(texts, "onnxruntime.providers")),
                       .trial_program = core::text_of(texts, "backends.trial_program")});
}

std::shared_ptr<core::Backend> make_backend(BackendOptions options) {
  return std::make_shared<OnnxruntimeBackend>(std::move(options));
}

}  // namespace latebind::onnxruntime
