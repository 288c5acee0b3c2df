// Capabilities: what some backends offer beyond the contract of every backend (core/backend/backend.h).
//
// A backend implements the interfaces of those that it has and returns them from Backend::capabilities(); it owns them,
// and they live as long as it does. All functions may be called from any thread. core/backend/questions.h asks a
// backend whether it has the capability or not.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// A loaded model whose compiled form can be kept.
struct LoadedModel {
  std::unique_ptr<Executable> executable;
  // Returns the blob of the loaded model. It is called at most once, from any thread, possibly while the executable
  // runs or after it was destroyed, and may take as long as compiling did. Empty when the backend has no blob for this
  // model.
  std::function<Result<Blob>()> export_blob;
};

// Makes blobs and runs them.
class Blobs {
 public:
  Blobs() = default;
  Blobs(const Blobs&) = delete;
  Blobs& operator=(const Blobs&) = delete;

  // Compiles for `device` (a Device::name). The device need not be in this machine if the vendor's compiler allows
  // that. Sets `left` to the nodes that the compiler left out, if it reports them, whether or not it made a blob of the
  // others.
  [[nodiscard]] virtual Result<Blob> compile(const Model& model, std::string_view device, const CompileOptions& options,
                                             LeftNodes& left) = 0;

  // Like Backend::load(), and also returns the blob of the loaded model, so that it need not be compiled again. A model
  // loaded from that blob computes the same results, bit for bit. The blob is for this machine only; compile() makes
  // blobs for other machines.
  [[nodiscard]] virtual Result<LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                           const CompileOptions& options) = 0;

  // Judges a blob by its label, before its bytes are read. kIncompatibleBlob when it was made for another backend,
  // device, version or precision; ok when only reading the blob can tell.
  [[nodiscard]] virtual Status check(const BlobLabel& label, std::string_view device,
                                     const CompileOptions& options) = 0;

  // Loads from a blob and keeps the blob's bytes alive as long as it needs them. kIncompatibleBlob when the blob was
  // made for another version or device.
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load_blob(const Blob& blob, std::string_view device,
                                                                      const CompileOptions& options) = 0;

 protected:
  ~Blobs() = default;
};

// Knows devices that are not in this machine but can be compiled for.
class VirtualDevices {
 public:
  VirtualDevices() = default;
  VirtualDevices(const VirtualDevices&) = delete;
  VirtualDevices& operator=(const VirtualDevices&) = delete;

  // Returns those devices; each has DeviceTraits::virtual_device. Called only when a user asks for such devices.
  [[nodiscard]] virtual Result<std::vector<Device>> virtual_devices() = 0;

 protected:
  ~VirtualDevices() = default;
};

// Knows what its vendor computes differently from ONNX.
class KnownErrors {
 public:
  KnownErrors() = default;
  KnownErrors(const KnownErrors&) = delete;
  KnownErrors& operator=(const KnownErrors&) = delete;

  // Returns the table for this version of the vendor's library (core/onnx/known_errors.h). A user's ONNX model is
  // checked against it before it is loaded. Fails when a setting names a file to use instead and that file cannot be
  // read.
  [[nodiscard]] virtual Result<std::string> known_errors() = 0;

 protected:
  ~KnownErrors() = default;
};

// The speed at which one thread of this machine multiplies matrices in a precision, in 10^9 operations per second. A
// product and a sum count as two operations.
struct PrecisionSpeed {
  Precision precision = Precision::kF32;
  double gops = 0;
};

struct PrecisionSpeeds {
  std::string instruction_set{};  // that the kernels use
  std::vector<PrecisionSpeed> speeds{};
};

// Has its own kernels, whose speed can be measured.
class PrecisionProbe {
 public:
  PrecisionProbe() = default;
  PrecisionProbe(const PrecisionProbe&) = delete;
  PrecisionProbe& operator=(const PrecisionProbe&) = delete;

  // Measures for about `time` how fast this machine's processors compute in each precision, f32 first. Empty when the
  // kernels cannot run here.
  [[nodiscard]] virtual PrecisionSpeeds measure_precisions(std::chrono::milliseconds time) = 0;

 protected:
  ~PrecisionProbe() = default;
};

// Knows devices that it does not offer, by name.
class DeviceAdvice {
 public:
  DeviceAdvice() = default;
  DeviceAdvice(const DeviceAdvice&) = delete;
  DeviceAdvice& operator=(const DeviceAdvice&) = delete;

  // Says in one line why the backend does not offer the device of this name, and what to type. Empty when it does not
  // know.
  [[nodiscard]] virtual std::string why_not(std::string_view device) = 0;

 protected:
  ~DeviceAdvice() = default;
};

// The capabilities of a backend; null for those that it does not have.
struct Capabilities {
  Blobs* blobs = nullptr;
  // For a backend without blobs, the message for a user who requests one. If empty, a general message is used.
  std::string_view no_blobs_because{};
  VirtualDevices* virtual_devices = nullptr;
  KnownErrors* known_errors = nullptr;
  PrecisionProbe* precision_probe = nullptr;
  DeviceAdvice* device_advice = nullptr;
};

}  // namespace latebind::core
