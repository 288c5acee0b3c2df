// A backend in memory, for tests of what stands above the backend contract: says and does what it is told.
//
// Its model has one input and one output, f32 [?]; the output is the input plus one.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/backend.h"

namespace latebind::test {

using core::ActiveConfig;
using core::Blob;
using core::CompileOptions;
using core::Device;
using core::DeviceKind;
using core::Executable;
using core::Model;
using core::OutputTensor;
using core::Result;
using core::RunOptions;
using core::Status;
using core::StatusCode;
using core::TensorInfo;
using core::TensorView;

class ScriptedExecutable : public Executable {
 public:
  // Asked before each run; an error is what the run gives.
  using Script = std::function<Status(const RunOptions& options)>;
  // The same, for those who want to see the inputs.
  using InputScript = std::function<Status(std::span<const TensorView> inputs)>;
  ScriptedExecutable(ActiveConfig active, Script script, InputScript input_script = nullptr, float added = 1)
      : active_(std::move(active)), script_(std::move(script)), input_script_(std::move(input_script)), added_(added) {}

  std::span<const TensorInfo> inputs() const override { return inputs_; }
  std::span<const TensorInfo> outputs() const override { return outputs_; }
  const ActiveConfig& active() const override { return active_; }

  Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs, const RunOptions& options) override {
    if (script_) LB_RETURN_IF_ERROR(script_(options));
    if (input_script_) LB_RETURN_IF_ERROR(input_script_(inputs));
    LB_ASSIGN_OR_RETURN(void* const data, outputs[0].prepare(core::ElementType::kF32, inputs[0].shape));
    LB_ASSIGN_OR_RETURN(const std::size_t count, inputs[0].shape.element_count());
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<float*>(data)[i] = static_cast<const float*>(inputs[0].data)[i] + added_;
    }
    return {};
  }

 private:
  std::vector<TensorInfo> inputs_{{"x", core::ElementType::kF32, {core::kDynamic}}};
  std::vector<TensorInfo> outputs_{{"y", core::ElementType::kF32, {core::kDynamic}}};
  ActiveConfig active_;
  Script script_;
  InputScript input_script_;
  const float added_;
};

class ScriptedBackend : public core::Backend,
                        public core::Blobs,
                        public core::VirtualDevices,
                        public core::KnownErrors,
                        public core::DeviceAdvice {
 public:
  explicit ScriptedBackend(std::string name) : name_(std::move(name)) {}

  // What the script says; set before use or from the test's own thread.
  Status availability;
  bool is_expected = false;                                 // that its library is there
  std::optional<Device> kept_back;                          // by a setting of its own
  std::map<std::string, std::string, std::less<>> reasons;  // by device name: why it is not present
  std::vector<Device> present;
  std::vector<Device> absent;                   // the virtual ones that it gives when asked for them
  std::map<std::string, Status> load_failures;  // by device name
  std::map<std::string, std::function<void()>, std::less<>> load_scripts;      // by device name; called by each load
  std::map<std::string, ScriptedExecutable::Script, std::less<>> run_scripts;  // by device name
  std::map<std::string, ScriptedExecutable::InputScript, std::less<>> input_scripts;  // by device name
  std::map<std::string, core::Precision> only_precision;                              // by device name; else any
  std::map<std::string, float, std::less<>> wrong;    // by device name: what it adds instead of one
  bool blobs = false;                                 // compiles, and loads what it has compiled
  std::map<std::string, Status> compile_failures;     // by device name; kUnsupported: of whole graphs alone
  std::map<std::string, core::LeftNodes> left_nodes;  // by device name: what its compiler does not take
  std::string errors;                                 // its table of known errors
  std::atomic<int> loads{0};
  std::function<void()> device_script;  // called whenever it is asked for its devices
  std::atomic<int> questions{0};        // calls of available() or devices()
  std::atomic<int> labels_checked{0};   // calls of check(), by load_blob() too

  ScriptedBackend& with(std::string device, DeviceKind kind, bool is_virtual = false) {
    Device d{name_, std::move(device), kind, "a scripted device", "1.0"};
    if (is_virtual) d.traits.virtual_device.emplace();
    present.push_back(std::move(d));
    return *this;
  }

  std::string_view name() const override { return name_; }
  Status available() override {
    ++questions;
    return availability;
  }
  std::string why_not(std::string_view device) override {
    const auto found = reasons.find(device);
    return found == reasons.end() ? std::string() : found->second;
  }
  Result<std::vector<Device>> devices() override {
    ++questions;
    if (device_script) device_script();
    return present;
  }
  Result<std::vector<Device>> virtual_devices() override { return absent; }
  Result<std::string> runtime_version() override { return std::string("1.0"); }
  Result<std::string> known_errors() override { return errors; }
  core::Capabilities capabilities() override {
    return {.blobs = blobs ? this : nullptr,
            .virtual_devices = this,
            .known_errors = this,
            .precision_probe = nullptr,
            .device_advice = this};
  }
  Result<Blob> compile(const Model&, std::string_view device, const CompileOptions& options,
                       core::LeftNodes& left) override {
    const auto leaves = left_nodes.find(std::string(device));
    left = leaves != left_nodes.end() ? leaves->second : core::LeftNodes{};
    if (const auto found = compile_failures.find(std::string(device)); found != compile_failures.end()) {
      if (found->second.code() != StatusCode::kUnsupported || options.host_nodes != core::HostNodes::kAny)
        return found->second;
    }
    return Blob{{name_, std::string(device), "1.0", options.precision, {}},
                core::SharedBytes::from_string("blob of " + name_ + ":" + std::string(device))};
  }
  Result<core::LoadedModel> load_exporting(const Model& model, std::string_view device,
                                           const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    return core::LoadedModel{std::move(executable), nullptr};
  }
  Status check(const core::BlobLabel& label, std::string_view /*device*/, const CompileOptions& /*options*/) override {
    ++labels_checked;
    if (label.runtime_version != "1.0") return {StatusCode::kIncompatibleBlob, "made for another version"};
    return {};
  }
  Result<std::unique_ptr<Executable>> load(const Model&, std::string_view device,
                                           const CompileOptions& options) override {
    ++loads;
    if (const auto found = load_scripts.find(device); found != load_scripts.end()) found->second();
    if (const auto found = load_failures.find(std::string(device)); found != load_failures.end()) {
      return found->second;
    }
    if (const auto only = only_precision.find(std::string(device));
        only != only_precision.end() && only->second != options.precision) {
      return Status(StatusCode::kUnsupported, std::string(core::word_of(options.precision)) + " is not for me");
    }
    ActiveConfig active;
    active.backend = name_;
    active.device = std::string(device);
    active.precision = options.precision;
    const auto script = run_scripts.find(device);
    const auto input_script = input_scripts.find(device);
    return std::unique_ptr<Executable>(
        std::make_unique<ScriptedExecutable>(std::move(active), script == run_scripts.end() ? nullptr : script->second,
                                             input_script == input_scripts.end() ? nullptr : input_script->second,
                                             wrong.contains(device) ? wrong.find(device)->second : 1.0F));
  }
  Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view device,
                                                const CompileOptions& options) override {
    LB_RETURN_IF_ERROR(check(blob, device, options));
    ActiveConfig active;
    active.backend = name_;
    active.device = std::string(device);
    active.precision = blob.precision;
    active.from_cache = true;
    return std::unique_ptr<Executable>(std::make_unique<ScriptedExecutable>(std::move(active), nullptr));
  }
  core::BackendDiagnosis diagnosis(const core::Result<std::vector<core::Device>>* /*devices*/) override {
    return {.install_hint = "install " + name_, .library_is_expected = is_expected, .withheld_by_setting = kept_back};
  }

 private:
  std::string name_;
};

}  // namespace latebind::test
