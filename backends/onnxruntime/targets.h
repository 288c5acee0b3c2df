// What Latebind knows of certain plugin providers beyond what they say themselves: how they are called, which package
// brings them, and the architectures that their compilers know although no such device is here.
//
// Constant data and pure functions; any thread. A provider that is not in the table works all the same: see
// plugin_providers.h. The architectures are a table of ours because the vendor's compiler takes any number for one.
#pragma once

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
  unsigned htp_arch = 0;          // the same as the provider's option wants it
  unsigned soc_model = 0;         // the vendor's number of a system with it
  std::string_view full_name;     // "Qualcomm Hexagon v73 (Snapdragon X Elite)"
};

struct KnownProvider {
  std::string_view short_name;      // "QNN": the device's name
  std::string_view provider;        // "QNNExecutionProvider": it must be registered under this name
  std::string_view library_stem;    // "onnxruntime_providers_qnn"
  std::string_view package_folder;  // below site-packages
  std::string_view package;         // as pip knows it
  std::string_view compiler_stem;   // the vendor's compiler, beside the provider's library; empty: none
  std::span<const Target> targets;  // what that compiler knows
};

[[nodiscard]] std::span<const KnownProvider> known_providers();
// What to type to install it.
[[nodiscard]] std::string install_command(const KnownProvider& known);
// Null when it is not in the table.
[[nodiscard]] const KnownProvider* known_provider(std::string_view provider);
// True for the CPU of a provider with targets: what the vendor's compiler runs on, which loads no model itself.
[[nodiscard]] bool only_compiles(std::string_view provider, core::DeviceKind kind);
// By the name of the library file, versions behind it included. Null when it is not in the table.
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
// What the provider is told, to compile for this target in f16, and to run that. `compiler_file`: the vendor's.
[[nodiscard]] ProviderOptions provider_options(const Target& target, const std::string& compiler_file);

// True when the provider's word on a blob (ContextModel::compatibility) is in a form that is known, and names another
// architecture. The provider itself judges for devices that are here, and for no others.
[[nodiscard]] bool is_for_another(const Target& target, std::string_view compatibility);

// The virtual device; without `compiler_file`, its metadata says what is missing.
[[nodiscard]] core::Device virtual_device(const TargetName& name, const std::string& compiler_file,
                                          const std::string& runtime_version);

}  // namespace latebind::onnxruntime
