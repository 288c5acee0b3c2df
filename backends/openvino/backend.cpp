#include "backends/openvino/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/openvino/compiled.h"
#include "backends/openvino/devices.h"
#include "backends/openvino/executable.h"
#include "backends/openvino/find.h"
#include "backends/openvino/hardware.h"
#include "backends/openvino/inherited.h"
#include "backends/openvino/known_errors_table.h"
#include "backends/openvino/load.h"
#include "backends/openvino/properties.h"
#include "backends/openvino/shared_core.h"
#include "backends/openvino/targets.h"
#include "core/onnx/known_errors.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_call.h"

namespace latebind::openvino {
namespace {

using core::Blob;
using core::BlobLabel;
using core::CompileOptions;
using core::Executable;
using core::Model;
using core::Result;
using core::Status;
using core::StatusCode;

// The vendor's properties that a target determines.
constexpr const char* kPlatformKey = "NPU_PLATFORM";
constexpr const char* kCompilerKey = "NPU_COMPILER_TYPE";

constexpr std::size_t kKnownErrorsBytesMax = std::size_t{1} << 20U;

// Checks, by its label, whether the blob can have been made by this library for this device. The vendor's own check
// follows, but it does not know which precision was promised. `target` is the name under which others compile for this
// device, such as "NPU.4000"; empty if it is not known.
Status check_label(const BlobLabel& blob, const std::string& device, const std::string& target,
                   const CompileOptions& options, const std::string& version) {
  const auto refuse = [](std::string text) { return Status(StatusCode::kIncompatibleBlob, std::move(text)); };
  if (blob.backend != kBackendName) {
    return refuse(fmt::format("the blob was made by {}, not by {}", blob.backend, kBackendName));
  }
  if (blob.device != device && (target.empty() || blob.device != target)) {
    return refuse(fmt::format("the blob was made for device {}, not for {}{}", blob.device, device,
                              target.empty() ? "" : ", which is " + target));
  }
  if (blob.runtime_version != version) {
    return refuse(fmt::format("the blob was made by OpenVINO {}, but this is {}", blob.runtime_version, version));
  }
  if (blob.precision != options.precision) {
    return refuse(fmt::format("the blob computes in {}, but the request is for {}", core::word_of(blob.precision),
                              core::word_of(options.precision)));
  }
  if (!options.input_shapes.empty()) return refuse("a blob's input shapes cannot be changed");
  return {};
}

// The target of this name; null if the name is that of a present device, or not a target's name.
Result<const NpuTarget*> virtual_target(const VendorCore& core, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const NpuTarget* const target, find_target(name));
  if (target == nullptr) return nullptr;
  LB_ASSIGN_OR_RETURN(const auto names, device_names(core));
  return std::ranges::find(names, name) == names.end() ? target : nullptr;
}

// Options for the compiler library, which needs no device and must be told its target.
Result<CompileOptions> options_for(const NpuTarget& target, const CompileOptions& options) {
  const std::string id = fmt::format("{}:{}", kBackendName, device_name(target));
  if (options.precision != core::Precision::kF16) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{} computes only in f16, but {} was requested", id, core::word_of(options.precision)));
  }
  CompileOptions for_target = options;
  for (const char* key : {kPlatformKey, kCompilerKey}) {
    if (options.properties.contains(key)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the property {} cannot be set for {}: the target determines it", key, id));
    }
  }
  for_target.properties[kPlatformKey] = target.architecture;
  for_target.properties[kCompilerKey] = "PLUGIN";
  return for_target;
}

// Refuses another model for a device that has hung and not returned.
Status check_not_stuck(const std::string& device) {
  return core::check_not_hung(fmt::format("{}:{}", kBackendName, device), "model");
}

class OpenvinoBackend final : public core::Backend,
                              public core::Blobs,
                              public core::VirtualDevices,
                              public core::KnownErrors {
 public:
  explicit OpenvinoBackend(BackendOptions options)
      : loader_(make_loader(std::move(options.library_path))), known_errors_file_(std::move(options.known_errors)) {}

  [[nodiscard]] std::string_view name() const override { return kBackendName; }

  [[nodiscard]] Status available() override {
    LB_RETURN_IF_ERROR(check_inherited());
    return loader_->library().status();
  }

  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    const Inside inside;
    LB_ASSIGN_OR_RETURN(const auto core, shared_core(core_));
    return list_devices(*core);
  }

  [[nodiscard]] Result<std::vector<core::Device>> virtual_devices() override {
    const Inside inside;
    const auto library = loader_->library();
    std::vector<std::string> real;
    std::string compiler;
    if (library.ok()) {
      compiler = npu_compiler_file((*library)->file, core::own_system());
      if (const auto core = shared_core(core_); core.ok()) {
        if (auto names = device_names(**core); names.ok()) real = *std::move(names);
      }
    }
    std::vector<core::Device> devices;
    for (const NpuTarget& target : npu_targets()) {
      // If there are several real devices, the vendor uses the same names.
      if (std::ranges::find(real, device_name(target)) != real.end()) continue;
      devices.push_back(virtual_device(
          target, compiler,
          library.ok() ? missing_npu_compiler(core::own_system()) : "OpenVINO: " + loader_->wanted().install_command,
          library.ok() ? (*library)->version : std::string()));
    }
    return devices;
  }

  [[nodiscard]] Result<std::string> runtime_version() override {
    LB_ASSIGN_OR_RETURN(const auto library, loader_->library());
    return library->version;
  }

  [[nodiscard]] Result<Blob> compile(const Model& model, std::string_view device, const CompileOptions& options,
                                     core::LeftNodes& left) override {
    left = {};
    const Inside inside;
    LB_ASSIGN_OR_RETURN(const std::string name, checked_device(device));
    LB_ASSIGN_OR_RETURN(auto core, shared_core(core_));
    LB_ASSIGN_OR_RETURN(const NpuTarget* const target, virtual_target(*core, name));
    if (target != nullptr) return compile_for(*target, std::move(core), model, options);
    LB_ASSIGN_OR_RETURN(const auto compiled, compile_model(std::move(core), model, name, options));
    return export_blob(*compiled);
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    const Inside inside;
    LB_ASSIGN_OR_RETURN(auto compiled, compile_present(model, device, options));
    return OpenvinoExecutable::create(compiled, options);
  }

  [[nodiscard]] Result<core::LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    const Inside inside;
    LB_ASSIGN_OR_RETURN(auto compiled, compile_present(model, device, options));
    LB_ASSIGN_OR_RETURN(auto executable, OpenvinoExecutable::create(compiled, options));
    return core::LoadedModel{std::move(executable), [compiled] {
                               const Inside exporting;
                               return export_blob(*compiled);
                             }};
  }

  [[nodiscard]] Status check(const BlobLabel& label, std::string_view device, const CompileOptions& options) override {
    const Inside inside;
    LB_ASSIGN_OR_RETURN(const std::string name, checked_device(device));
    LB_ASSIGN_OR_RETURN(const auto core, shared_core(core_));
    return check_on(*core, label, name, options);
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view device,
                                                              const CompileOptions& options) override {
    const Inside inside;
    LB_ASSIGN_OR_RETURN(const std::string name, checked_device(device));
    LB_ASSIGN_OR_RETURN(const auto core, shared_core(core_));
    LB_RETURN_IF_ERROR(check_on(*core, blob, name, options));
    if (blob.bytes.bytes.empty()) return Status(StatusCode::kIncompatibleBlob, "the blob is empty");
    LB_RETURN_IF_ERROR(check_present(*core, name));
    LB_RETURN_IF_ERROR(check_not_stuck(name));
    LB_ASSIGN_OR_RETURN(auto compiled, import_alone(blob, name, options));
    return OpenvinoExecutable::create(compiled, options);
  }

  [[nodiscard]] Result<std::string> known_errors() override {
    const std::string name = !known_errors_file_.empty()
                                 ? known_errors_file_
                                 : platform::trusted_environment(kKnownErrorsVariable).value_or("");
    if (name.empty()) return std::string(kKnownErrorsTable);
    const auto file = platform::path_from_utf8(name);
    auto text = platform::read_small_file(file, kKnownErrorsBytesMax);
    if (!text.ok()) return text.status().with_context("openvino.known_errors");
    const auto table = onnx::KnownErrors::read(*text, name, {});
    if (!table.ok()) return table.status().with_context("openvino.known_errors");
    return text;
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* devices) override {
    core::BackendDiagnosis diagnosis;
    diagnosis.install_hint = loader_->wanted().install_command;
    diagnosis.search = loader_->trace();
    diagnosis.library_is_expected = loader_->is_expected();
    if (devices != nullptr) {
      diagnosis.hardware = hardware_notes(platform::accelerators(), *devices, diagnosis.install_hint);
    }
    return diagnosis;
  }

  [[nodiscard]] core::Capabilities capabilities() override {
    return {.blobs = this, .virtual_devices = this, .known_errors = this};
  }

 private:
  static Status check_on(const VendorCore& core, const BlobLabel& label, const std::string& name,
                         const CompileOptions& options) {
    const std::string architecture = label.device == name ? std::string() : npu_architecture_of(core, name);
    return check_label(label, name, architecture.empty() ? "" : "NPU." + architecture, options, core.library->version);
  }

  Result<SharedCore::Pointer> shared_core(SharedCore& core) {
    LB_RETURN_IF_ERROR(check_inherited());
    LB_ASSIGN_OR_RETURN(auto library, loader_->library());
    return core.get(std::move(library));
  }

  static Result<Blob> compile_for(const NpuTarget& target, SharedCore::Pointer core, const Model& model,
                                  const CompileOptions& options) {
    const std::string name = device_name(target);
    if (npu_compiler_file(core->library->file, core::own_system()).empty()) {
      return Status(StatusCode::kLibraryNotFound,
                    fmt::format("cannot compile for {}; missing: {}", name, missing_npu_compiler(core::own_system())));
    }
    LB_ASSIGN_OR_RETURN(const CompileOptions for_target, options_for(target, options));
    auto compiled = compile_model(std::move(core), model, "NPU", for_target);
    if (!compiled.ok()) {
      // The vendor's message about shapes that are not static names no remedy.
      return compiled.status().with_context(
          fmt::format("for {}{}", name, options.input_shapes.empty() ? " (which needs static shapes: --shapes)" : ""));
    }
    LB_ASSIGN_OR_RETURN(Blob blob, export_blob(**compiled));
    blob.device = name;
    return blob;
  }

  Result<std::shared_ptr<const Compiled>> compile_present(const Model& model, std::string_view device,
                                                          const CompileOptions& options) {
    LB_ASSIGN_OR_RETURN(const std::string name, checked_device(device));
    LB_ASSIGN_OR_RETURN(auto core, shared_core(core_));
    LB_RETURN_IF_ERROR(check_present(*core, name));
    LB_RETURN_IF_ERROR(check_not_stuck(name));
    return compile_model(std::move(core), model, name, options);
  }

  // An import uses the properties of its core, and a property that was set there can be replaced but not removed.
  // Therefore imports have a separate core, on which each of them sets all of Latebind's properties. An import that
  // sets more than those gets a core for itself: one with the user's properties, or with the number of requests that a
  // GPU or NPU must expect.
  Result<std::shared_ptr<const Compiled>> import_alone(const Blob& blob, const std::string& device,
                                                       const CompileOptions& options) {
    if (!options.properties.empty() || (options.requests != 0 && device_base(device) != "CPU")) {
      LB_ASSIGN_OR_RETURN(auto library, loader_->library());
      LB_ASSIGN_OR_RETURN(auto core, VendorCore::create(std::move(library)));
      return import_blob(std::move(core), blob, device, options);
    }
    LB_ASSIGN_OR_RETURN(auto core, shared_core(import_core_));
    const core::MutexLock lock(import_mutex_);
    return import_blob(std::move(core), blob, device, options);
  }

  const std::unique_ptr<Loader> loader_;
  const std::string known_errors_file_;  // "": what the environment says, else the built-in table
  SharedCore core_;
  SharedCore import_core_;
  // Held while properties are set on import_core_ and a blob is imported there.
  core::Mutex import_mutex_;
};

}  // namespace

std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts) {
  return make_backend({.library_path = core::text_of(texts, "openvino.library"),
                       .known_errors = core::text_of(texts, "openvino.known_errors")});
}

std::shared_ptr<core::Backend> make_backend(BackendOptions options) {
  return std::make_shared<OpenvinoBackend>(std::move(options));
}

}  // namespace latebind::openvino
