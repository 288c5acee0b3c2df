// What Latebind knows about certain plugin providers beyond what they report: their names, their packages, and the
// architectures that their compilers support without such a device.
//
// Constant data and pure functions; any thread. A provider that is not in the table works as well (plugin_providers.h).
// If several providers drive the same GPU, `auto` takes the first one in the table. The architectures are listed here
// because the vendor's compiler accepts any number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/device.h"
#include "core/result.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

// An architecture to compile for.
struct Target {
  std::string_view architecture;  // "v73"
  unsigned htp_arch = 0;          // the same as a number, for the provider's option
  unsigned soc_model = 0;         // the vendor's number of a system with this architecture
  std::string_view full_name;     // "Qualcomm Hexagon v73 (Snapdragon X Elite)"
};

// A provider's option that applies unless the caller's properties set another value.
struct DefaultOption {
  std::string_view key;
  std::string_view value;
};

// Libraries that must be in the process before a provider is opened, and that the system's search does not find.
struct Needs {
  // The graphics driver's library, on Linux and on Windows; without it, the provider is not tried.
  std::string_view driver{};
  std::string_view driver_on_windows{};
  // Such as "cudart" for libcudart.so.13: beside the provider or in the vendor's packages, in the order in which to
  // open them.
  std::span<const std::string_view> stems{};
  // The folder below site-packages that contains the folders of the vendor's packages: "nvidia".
  std::string_view packages{};
};

// The meaning of a failure in which a provider says this, and the remedy.
struct Explanation {
  std::string_view says{};
  std::string_view means{};
  std::string_view means_on_windows{};
};

struct KnownProvider {
  std::string_view short_name;        // "QNN": the device's name
  std::string_view provider;          // "QNNExecutionProvider": the name under which it must be registered
  std::string_view library_stem;      // "onnxruntime_providers_qnn"
  std::string_view package_folder;    // below site-packages
  std::string_view package;           // the name for pip
  std::string_view compiler_stem{};   // the vendor's compiler, beside the provider's library; may be empty
  std::span<const Target> targets{};  // the architectures that the compiler supports
  bool compiles = true;               // whether it compiles models into contexts that can be stored
  // Whether it crashes when runs of two sessions, or a run and a load, coincide (seen with onnxruntime-ep-webgpu
  // 0.4.0).
  bool one_session_at_a_time = false;
  // Whether it is part of a build of ONNX Runtime. It is then beside the library of that build, and works with no
  // other.
  bool of_runtime = false;
  Needs needs{};
  std::span<const DefaultOption> options{};
  // Explains a failure to create a session; empty: no known explanation.
  Explanation explanation{};
  // Why its devices compute in one precision only; empty: unknown.
  std::string_view why_one_precision{};
  // The PCI vendor whose GPUs it drives; 0: GPUs of every vendor; kNoGpus: none.
  static constexpr std::uint32_t kNoGpus = 0xFFFFFFFF;
  std::uint32_t gpus_of = kNoGpus;

  [[nodiscard]] bool is_for_gpus_of(std::uint32_t vendor_id) const { return gpus_of == 0 || gpus_of == vendor_id; }
};

[[nodiscard]] std::span<const KnownProvider> known_providers();
// The provider for any GPU.
inline constexpr std::string_view kWebGpuProvider = "WebGpuExecutionProvider";
inline constexpr std::string_view kCudaProvider = "CUDAExecutionProvider";
inline constexpr std::uint32_t kNvidia = 0x10DE;
// The commands that install the provider; the second one installs ONNX Runtime as well.
[[nodiscard]] std::string install_command(const KnownProvider& known);
[[nodiscard]] std::string install_command_with_runtime(const KnownProvider& known);
// Null if it is not in the table.
[[nodiscard]] const KnownProvider* known_provider(std::string_view provider);
// Returns the provider of a device such as "WebGpu.GPU.0" or a target such as "QNN.v73"; null for any other device.
[[nodiscard]] const KnownProvider* known_provider_of_device(std::string_view device);
// The failure, preceded by its meaning if that is known.
[[nodiscard]] core::Status explained(const KnownProvider& known, const core::Status& failure, core::System system);
// Whether this is the CPU of a provider with targets, on which the vendor's compiler runs but no model does.
[[nodiscard]] bool only_compiles(std::string_view provider, core::DeviceKind kind);
// Whether a file is the library: "libx.so.1.2" and "libx.so" are both the library "libx.so".
[[nodiscard]] bool is_named(std::string_view file_name, std::string_view library);
// Finds a provider by the name of its library file, with or without a version suffix. Null if it is not in the table.
[[nodiscard]] const KnownProvider* known_provider_of_file(std::string_view file_name, core::System system);

struct TargetName {
  const KnownProvider* provider = nullptr;
  const Target* target = nullptr;
};
// Parses a name such as "QNN.v73". Empty if the name does not begin like a provider with targets; kDeviceNotFound, with
// the known architectures, if the architecture is unknown.
[[nodiscard]] core::Result<TargetName> find_target(std::string_view device_name);

// "QNN.v73"
[[nodiscard]] std::string device_name(const TargetName& name);

// Whether the vendor's compiler can also run its output on this kind of machine.
[[nodiscard]] bool is_emulated(core::System system, std::string_view architecture);

using ProviderOptions = std::vector<std::pair<std::string, std::string>>;
// The provider's options that compile for this target in f16 and run the result. `compiler_file` is the vendor's
// compiler.
[[nodiscard]] ProviderOptions provider_options(const Target& target, const std::string& compiler_file);

// Whether the provider's string about a blob (ContextModel::compatibility) has a known form and names another
// architecture. The provider itself checks this only for devices that are present.
[[nodiscard]] bool is_for_another(const Target& target, std::string_view compatibility);

// The virtual device. If `compiler_file` is empty, its metadata says what is missing.
[[nodiscard]] core::Device virtual_device(const TargetName& name, const std::string& compiler_file,
                                          const std::string& runtime_version);

}  // namespace latebind::onnxruntime
