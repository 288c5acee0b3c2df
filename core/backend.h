// Backend: the contract of the code that drives one vendor runtime.
//
// A backend is created before anything is known about the machine and loads nothing until the first query. Failures are
// not cached: when the vendor's library was not there, the next call looks again. All calls are thread-safe.
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

#include "core/device.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// One place where a vendor library was looked for, and what happened there: the trace that `latebind doctor` prints.
struct SearchStep {
  std::string place;    // a path, or a variable that is not set
  std::string source;   // which rule led there: "OPENVINO_LIB_PATH", "active Python environment" …
  std::string outcome;  // "opened", "no such file", or the loader's own message
  bool opened = false;
};

// A part of an available backend that cannot be used, such as a plugin of another vendor's.
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
  // Driver, DriverVersion, FirmwareVersion, PciId, PciAddress, Group: what the system reports.
  std::map<std::string, std::string> metadata{};
};

// What a backend reports about itself, for reports and errors.
struct BackendDiagnosis {
  // Every place tried by the last attempt to open the library.
  std::vector<SearchStep> search{};
  // What was found and cannot be used, while the rest works.
  std::vector<UnavailablePart> unavailable{};
  // The vendor's hardware in this machine, whether the backend is available or not.
  std::vector<HardwareNote> hardware{};
  // What to type to install the vendor's library, one line.
  std::string install_hint{};
  // There is no library, so that nothing was looked for and nothing can be installed.
  bool is_built_in = false;
};

// How fast one thread multiplies matrices in a precision here, in 10^9 operations (a product and a sum are two) a
// second.
struct PrecisionSpeed {
  Precision precision = Precision::kF32;
  double gops = 0;
};

// A loaded model whose compiled form can be kept.
struct LoadedModel {
  std::unique_ptr<Executable> executable;
  // Returns the blob of what was loaded. Called at most once, from any thread, possibly while the executable runs or
  // after it was destroyed; may take as long as compiling did. Empty: the backend has no blob for this.
  std::function<Result<Blob>()> export_blob;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // "openvino": the word before the colon in a device's id.
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Ok when the vendor's library is open and usable. The first call may open it; cheap afterwards. The error says what
  // was tried, what was found and what to type.
  [[nodiscard]] virtual Status available() = 0;

  // Whether it is news that the vendor's library is not there: a setting or a variable names it, or one that was found
  // is left out.
  [[nodiscard]] virtual bool library_is_expected() { return false; }

  // The device that it would have without a setting of its own, which is why available() refuses. The refusal then
  // stands where this device would: whoever made the setting expects it to matter.
  [[nodiscard]] virtual std::optional<Device> kept_back_by_setting() { return std::nullopt; }

  // Every device present now, queried at each call. An available backend without devices returns an empty list.
  [[nodiscard]] virtual Result<std::vector<Device>> devices() = 0;

  // Devices that are not in this machine but can be compiled for: metadata says IsVirtual=1, DiscoveredBy, the
  // architecture, CompilerInstalled (else Missing, with what to install) and Emulated (1 where load() can run them with
  // CompileOptions::emulate). Only queried on request. By default none.
  [[nodiscard]] virtual Result<std::vector<Device>> virtual_devices() { return std::vector<Device>{}; }

  // Why devices() has none of this name, in one line with what to type. Empty where nothing is known of it. By default
  // what diagnosis() says of a part of that name.
  [[nodiscard]] virtual std::string why_not(std::string_view device) {
    for (UnavailablePart& part : diagnosis(nullptr).unavailable) {
      if (part.name == device) return std::move(part.reason);
    }
    return {};
  }

  // The vendor's own version string. Fails when not available.
  [[nodiscard]] virtual Result<std::string> runtime_version() = 0;

  // Compiles for `device` (a Device::name), which need not be in this machine where the vendor's compiler allows it. By
  // default there is nothing to compile: kUnsupported.
  [[nodiscard]] virtual Result<Blob> compile(const Model& /*model*/, std::string_view /*device*/,
                                             const CompileOptions& /*options*/) {
    return Status(StatusCode::kUnsupported, std::string(name()) + " has nothing to compile");
  }

  // Like compile(); `left` becomes the nodes that the compiler did not take, where it says which: whether there is a
  // blob of the others or none. By default it compiles, and none are named.
  [[nodiscard]] virtual Result<Blob> compile_naming(const Model& model, std::string_view device,
                                                    const CompileOptions& options, LeftNodes& left) {
    left = {};
    return compile(model, device, options);
  }

  // Loads on a device that is present. kDeviceNotFound, kUnsupported, kInvalidModel, kDeviceFailed …
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                                 const CompileOptions& options) = 0;

  // Like load(), and returns the blob of what was loaded, so that it need not be compiled again: loaded from the blob,
  // the model computes the same, bit for bit. The blob is for this very machine: compile() is for blobs that are moved
  // to others. By default it loads, and there is no blob.
  [[nodiscard]] virtual Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                           const CompileOptions& options) {
    LB_ASSIGN_OR_RETURN(auto executable, load(model, device, options));
    return LoadedModel{std::move(executable), nullptr};
  }

  // Whether it ever gives or takes a blob, or a cache of them is of no use to it.
  [[nodiscard]] virtual bool has_blobs() const { return true; }

  // Loads from a blob. kIncompatibleBlob when it was made for another version or device. Keeps the blob's bytes alive
  // as long as it needs them. By default none is the backend's own.
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Blob& /*blob*/, std::string_view /*device*/,
                                                                 const CompileOptions& /*options*/) {
    return Status(StatusCode::kIncompatibleBlob, std::string(name()) + " makes no blobs, so that none is of it");
  }

  // The table of what this version of the vendor's library computes otherwise than ONNX says
  // (core/onnx/known_errors.h): models that a user has as ONNX are checked by it before they are loaded. By default
  // nothing. The error of a file that a setting names in its place.
  [[nodiscard]] virtual Result<std::string> known_errors() { return std::string(); }

  // Measures on this machine's processors for about so long, in f32 first. Empty for a backend without kernels of its
  // own.
  [[nodiscard]] virtual std::vector<PrecisionSpeed> measure_precisions(std::chrono::milliseconds /*time*/) {
    return {};
  }

  // Queried at each call; looks for the library only if nothing did yet. `devices`: what devices() has just
  // returned, to compare the system's hardware with; null: nothing is said of hardware, which takes time to look at.
  [[nodiscard]] virtual BackendDiagnosis diagnosis(const Result<std::vector<Device>>* devices) = 0;
};

}  // namespace latebind::core
