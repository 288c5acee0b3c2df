// Backend: the contract of the code that drives one vendor runtime.
//
// A backend is created before anything is known about the machine and loads nothing until the first query. It does not
// cache failures: if the vendor's library was missing, the next call looks for it again. All functions may be called
// from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// One place where a vendor library was looked for, and the outcome: the trace that `latebind doctor` prints.
struct SearchStep {
  std::string place;    // a path, or a variable that is not set
  std::string source;   // the rule that led there: "OPENVINO_LIB_PATH", "active Python environment" …
  std::string outcome;  // "opened", "no such file", or the loader's own message
  bool opened = false;
};

// A part of an available backend that cannot be used, such as another vendor's plugin.
struct UnavailablePart {
  std::string name;
  std::string reason;
};

// Hardware in this machine that concerns a backend, and whether the backend can use it.
struct HardwareNote {
  std::string name;  // "Intel NPU 4000"
  DeviceKind kind = DeviceKind::kOther;
  std::string node;  // "/dev/accel/accel0"; empty when no driver has created one
  bool ready = false;
  std::string status;  // "ready", or what is wrong, in one line
  std::string remedy;  // what to do about it, in one line; empty when ready
  // What the system reports: Driver, DriverVersion, FirmwareVersion, PciId, PciAddress, Group.
  std::map<std::string, std::string> metadata{};
};

// What a backend reports about itself, for reports and errors.
struct BackendDiagnosis {
  // Every place tried by the last attempt to open the library.
  std::vector<SearchStep> search{};
  // Parts that were found and cannot be used, while the rest works.
  std::vector<UnavailablePart> unavailable{};
  // The vendor's hardware in this machine, whether the backend is available or not.
  std::vector<HardwareNote> hardware{};
  // The command that installs the vendor's library, in one line.
  std::string install_hint{};
  // True when the backend needs no library: there is nothing to look for and nothing to install.
  bool is_built_in = false;
};

// The speed at which one thread of this machine multiplies matrices in a precision, in 10^9 operations per second. A
// product and a sum count as two operations.
struct PrecisionSpeed {
  Precision precision = Precision::kF32;
  double gops = 0;
};

// A loaded model whose compiled form can be kept.
struct LoadedModel {
  std::unique_ptr<Executable> executable;
  // Returns the blob of the loaded model. It is called at most once, from any thread, possibly while the executable
  // runs or after it was destroyed, and may take as long as compiling did. Empty when the backend has no blob for this
  // model.
  std::function<Result<Blob>()> export_blob;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // The word before the colon in a device's id: "openvino".
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Returns ok when the vendor's library is open and usable. The first call may open it; later calls are cheap. The
  // error says what was tried, what was found and what to type.
  [[nodiscard]] virtual Status available() = 0;

  // Whether a missing library should be reported: true when a setting or a variable names it, or when a library that
  // was found was left out because it is not trusted.
  [[nodiscard]] virtual bool library_is_expected() { return false; }

  // Returns the device that this backend would offer without one of its settings, if that setting is why available()
  // fails. The placement then reports the failure at that device's place in the order, because the user expects the
  // setting to take effect there. Otherwise std::nullopt.
  [[nodiscard]] virtual std::optional<Device> withheld_by_setting() { return std::nullopt; }

  // Returns every device that is present now. Each call queries the vendor. An available backend without devices
  // returns an empty list.
  [[nodiscard]] virtual Result<std::vector<Device>> devices() = 0;

  // Returns the devices that are not in this machine but can be compiled for; the default is an empty list. Their
  // metadata has IsVirtual=1, DiscoveredBy, the architecture, CompilerInstalled (if 0, Missing names what to install)
  // and Emulated (1 if load() can run them with CompileOptions::emulate). Called only when a user asks for such
  // devices.
  [[nodiscard]] virtual Result<std::vector<Device>> virtual_devices() { return std::vector<Device>{}; }

  // Says in one line why devices() does not have the device of this name, and what to type. Empty when the backend does
  // not know. The default is what diagnosis() reports about an unavailable part of that name.
  [[nodiscard]] virtual std::string why_not(std::string_view device) {
    for (UnavailablePart& part : diagnosis(nullptr).unavailable) {
      if (part.name == device) return std::move(part.reason);
    }
    return {};
  }

  // Returns the vendor's version string. Fails when the backend is not available.
  [[nodiscard]] virtual Result<std::string> runtime_version() = 0;

  // Compiles for `device` (a Device::name). The device need not be in this machine if the vendor's compiler allows
  // that. The default returns kUnsupported: the backend does not compile.
  [[nodiscard]] virtual Result<Blob> compile(const Model& /*model*/, std::string_view /*device*/,
                                             const CompileOptions& /*options*/) {
    return Status(StatusCode::kUnsupported, std::string(name()) + " has nothing to compile");
  }

  // Like compile(). Sets `left` to the nodes that the compiler left out, if it reports them, whether or not it made a
  // blob of the others. The default calls compile() and clears `left`.
  [[nodiscard]] virtual Result<Blob> compile_naming(const Model& model, std::string_view device,
                                                    const CompileOptions& options, LeftNodes& left) {
    left = {};
    return compile(model, device, options);
  }

  // Loads the model on a device that is present. Errors: kDeviceNotFound, kUnsupported, kInvalidModel, kDeviceFailed …
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                                 const CompileOptions& options) = 0;

  // Like load(), and also returns the blob of the loaded model, so that it need not be compiled again. A model loaded
  // from that blob computes the same results, bit for bit. The blob is for this machine only; compile() makes blobs for
  // other machines. The default calls load() and exports no blob.
  [[nodiscard]] virtual Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                           const CompileOptions& options) {
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    return LoadedModel{std::move(executable), nullptr};
  }

  // Whether the backend ever makes or accepts a blob; otherwise the compile cache is not used for it.
  [[nodiscard]] virtual bool has_blobs() const { return true; }

  // Loads from a blob and keeps the blob's bytes alive as long as it needs them. Returns kIncompatibleBlob when the
  // blob was made for another version or device, and by default, because a backend that makes no blobs accepts none.
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Blob& /*blob*/, std::string_view /*device*/,
                                                                 const CompileOptions& /*options*/) {
    return Status(StatusCode::kIncompatibleBlob,
                  std::string(name()) + " does not produce blobs, so this one is not its own");
  }

  // Returns the table of what this version of the vendor's library computes differently from ONNX
  // (core/onnx/known_errors.h). A user's ONNX model is checked against it before it is loaded. Empty by default. Fails
  // when a setting names a file to use instead and that file cannot be read.
  [[nodiscard]] virtual Result<std::string> known_errors() { return std::string(); }

  // Measures for about `time` how fast this machine's processors compute in each precision, f32 first. Empty unless
  // the backend has its own kernels.
  [[nodiscard]] virtual std::vector<PrecisionSpeed> measure_precisions(std::chrono::milliseconds /*time*/) {
    return {};
  }

  // Diagnoses the backend; each call queries the system. It looks for the library only if no call has done so yet.
  // `devices` is the result of a devices() call just made, with which the system's hardware is compared; null leaves
  // out the hardware, which takes time to examine.
  [[nodiscard]] virtual BackendDiagnosis diagnosis(const Result<std::vector<Device>>* devices) = 0;
};

}  // namespace latebind::core
