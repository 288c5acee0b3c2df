// What Latebind knows of certain plugin providers beyond what they report themselves: their names, which package
// contains them, and the architectures that their compilers support although no such device is present.
//
// Constant data and pure functions; any thread. A provider that is not in the table works as well: see
// plugin_providers.h. Where several have the same GPU, `auto` takes the first of the table. The architectures are
// listed here because the vendor's compiler accepts any number.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device.h"
#include "core/result.h"
#include "core/vendor_search.h"

namespace latebind::onnxruntime {

// An architecture to compile for.
struct Target {
  std::string_view architecture;  // "v73"
  unsigned htp_arch = 0;          // the same in the form of the provider's option
  unsigned soc_model = 0;         // the vendor's number of a system with it
  std::string_view full_name;     // "Qualcomm Hexagon v73 (Snapdragon X Elite)"
};

// A provider's option that is given unless the caller's properties have another value.
struct DefaultOption {
  std::string_view key;
  std::string_view value;
};

// Libraries that a provider needs in the process before it is opened, which no search of the system's would find.
struct Needs {
  // Of the graphics driver: without it there is nothing to try. On Linux and on Windows.
  std::string_view driver{};
  std::string_view driver_on_windows{};
  // "cudart" for libcudart.so.13: beside the provider, or in packages of that maker, in the order to open them.
  std::span<const std::string_view> stems{};
  // Folder below site-packages with a folder for each of the maker's packages: "nvidia".
  std::string_view packages{};
};

// What a failure means in which a provider says this, and what to type.
struct Explanation {
  std::string_view says{};
  std::string_view means{};
  std::string_view means_on_windows{};
};

struct KnownProvider {
  std::string_view short_name;        // "QNN": the device's name
  std::string_view provider;          // "QNNExecutionProvider": it must be registered under this name
  std::string_view library_stem;      // "onnxruntime_providers_qnn"
  std::string_view package_folder;    // below site-packages
  std::string_view package;           // as pip knows it
  std::string_view compiler_stem{};   // the vendor's compiler, beside the provider's library; empty: none
  std::span<const Target> targets{};  // what that compiler supports
  bool compiles = true;               // models, into contexts that can be kept
  // It crashes where runs of two sessions, or a run and a load, meet (seen with onnxruntime-ep-webgpu 0.4.0).
  bool one_session_at_a_time = false;
  // A part of a build of ONNX Runtime: it lies beside the library of that build, and works with no other.
  bool of_runtime = false;
  Needs needs{};
  std::span<const DefaultOption> options{};
  // Of its failure to make a session; empty: none is known.
  Explanation explanation{};
  // Why its devices compute in one precision only; empty: nothing is known of it.
  std::string_view why_one_precision{};
  // Whose GPUs it computes on, by vendor of PCI; 0: on those of every maker; kNoGpus.
  static constexpr std::uint32_t kNoGpus = 0xFFFFFFFF;
  std::uint32_t gpus_of = kNoGpus;

  [[nodiscard]] bool is_for_gpus_of(std::uint32_t vendor_id) const { return gpus_of == 0 || gpus_of == vendor_id; }
};

[[nodiscard]] std::span<const KnownProvider> known_providers();
// The one that is for any GPU, in the table.
inline constexpr std::string_view kWebGpuProvider = "WebGpuExecutionProvider";
inline constexpr std::string_view kCudaProvider = "CUDAExecutionProvider";
inline constexpr std::uint32_t kNvidia = 0x10DE;
// What to type to install it; the second where ONNX Runtime is not here either.
[[nodiscard]] std::string install_command(const KnownProvider& known);
[[nodiscard]] std::string install_command_with_runtime(const KnownProvider& known);
// Null when it is not in the table.
[[nodiscard]] const KnownProvider* known_provider(std::string_view provider);
// The one that "WebGpu.GPU.0" is a device of, or "QNN.v73" a target. Null when there is none.
[[nodiscard]] const KnownProvider* known_provider_of_device(std::string_view device);
// The failure with what it means first, where that is known.
[[nodiscard]] core::Status explained(const KnownProvider& known, const core::Status& failure, core::System system);
// True for the CPU of a provider with targets: the vendor's compiler runs on it, but it loads no model itself.
[[nodiscard]] bool only_compiles(std::string_view provider, core::DeviceKind kind);
// "libx.so.1.2" for the library "libx.so", and that itself.
[[nodiscard]] bool is_named(std::string_view file_name, std::string_view library);
// By the name of the library file, with or without a version suffix. Null when it is not in the table.
[[nodiscard]] const KnownProvider* known_provider_of_file(std::string_view file_name, core::System system);

struct TargetName {
  const KnownProvider* provider = nullptr;
  const Target* target = nullptr;
};
// "QNN.v73". Nothing when the name does not begin as a provider with targets does; kDeviceNotFound, with the known
// ones, when it does and there is no such architecture.
[[nodiscard]] core::Result<TargetName> find_target(std::string_view device_name);

// "QNN.v73"
[[nodiscard]] std::string device_name(const TargetName& name);

// True when the vendor's compiler can also run what it compiled, on this kind of machine.
[[nodiscard]] bool is_emulated(core::System system, std::string_view architecture);

using ProviderOptions = std::vector<std::pair<std::string, std::string>>;
// The provider's options to compile for this target in f16, and to run the result. `compiler_file`: the vendor's.
[[nodiscard]] ProviderOptions provider_options(const Target& target, const std::string& compiler_file);

// True when the provider's string about a blob (ContextModel::compatibility) has a known form, and names another
// architecture. The provider itself checks only for devices that are present.
[[nodiscard]] bool is_for_another(const Target& target, std::string_view compatibility);

// The virtual device; without `compiler_file`, its metadata says what is missing.
[[nodiscard]] core::Device virtual_device(const TargetName& name, const std::string& compiler_file,
                                          const std::string& runtime_version);

}  // namespace latebind::onnxruntime
