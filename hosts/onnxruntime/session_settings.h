// SessionSettings: the provider options of a session, which are keys of Latebind's table (docs/configuration.md) and
// two keys of the provider, and the host's settings of compiled models.
//
// A value, constant once read; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

inline constexpr const char* kProviderName = "Latebind";

struct SessionSettings {
  Options options;                   // without "device"
  std::string device;                // the option; "" if it is not given
  bool nested = false;               // whether ONNX Runtime inside ONNX Runtime may answer
  std::vector<std::string> targets;  // the devices to compile for; empty: the session's devices
  bool emulate = false;

  // The host's settings.
  bool writes_contexts = false;  // ep.context_enable
  bool embeds_contexts = false;  // ep.context_embed_mode
  std::string context_file;      // ep.context_file_path
};

// Throws Failure for unknown keys and values, naming the nearest, and for settings of the host that Latebind does not
// support.
[[nodiscard]] SessionSettings read_session_settings(const Host& host, const abi::SessionOptions* options);

[[nodiscard]] bool is_set(const Options& options, const char* key);

// The library that the backend onnxruntime uses in this process.
enum class NestedLibrary : std::uint8_t {
  kNone,
  kSearched,  // for compilers, which run in separate processes
  kHosts,     // the library that has loaded this one, unless the options name another
};
// Creates a runtime. If the host's library cannot be opened as a file, as in Python, kSearched and kHosts use the
// library in the package from which the host was imported, unless the options or the environment name another.
[[nodiscard]] Runtime make_runtime(const Host& host, const Options& options, NestedLibrary nested);

// The devices that can run a part of the host's graph, which excludes those that only run Latebind's own graphs.
// `absent` adds virtual ones.
[[nodiscard]] Result<Devices> devices_of(const Runtime& runtime, bool absent = false);

// The devices to try, in order, in a session for hardware of this kind (LB_DEVICE_…), as the setting "device" requires.
// Throws Failure if no device is left, or if a word means an excluded device.
[[nodiscard]] std::string placement_for(const Devices& found, const SessionSettings& settings, std::int32_t kind);

}  // namespace latebind::provider
