// SessionSettings: what a session says to its provider: provider options, which are keys of Latebind's own table
// (docs/configuration.md) and the provider's own two, and the host's settings of compiled models.
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
  std::string device;                // the option, "" when it is not given
  bool nested = false;               // ONNX Runtime inside ONNX Runtime may answer
  std::vector<std::string> targets;  // what compiled models are for; empty: the session's devices
  bool emulate = false;

  // Of the host.
  bool writes_contexts = false;  // ep.context_enable
  bool embeds_contexts = false;  // ep.context_embed_mode
  std::string context_file;      // ep.context_file_path
};

// Throws Failure for unknown keys and values, naming the nearest, and for settings of the host that Latebind does not
// have.
[[nodiscard]] SessionSettings read_session_settings(const Host& host, const abi::SessionOptions* options);

[[nodiscard]] bool is_set(const Options& options, const char* key);

// Which ONNX Runtime the backend onnxruntime has in this process.
enum class NestedLibrary : std::uint8_t {
  kNone,
  kSearched,  // for compilers, which run in processes of their own
  kHosts,     // the one that this is loaded in, unless the options name another
};
// Where the host's own library cannot be opened as one, as in Python, both mean the library in the package that the
// host was imported from, unless the options or the environment name another.
[[nodiscard]] Runtime make_runtime(const Host& host, const Options& options, NestedLibrary nested);

// The devices that may run a part of the host's graph: not those that run Latebind's own graphs alone. `absent`:
// virtual ones, too.
[[nodiscard]] Result<Devices> devices_of(const Runtime& runtime, bool absent = false);

// The devices to try, of these, in a session for hardware of this kind (LB_DEVICE_…), in order, as the setting "device"
// wants them. Throws Failure when there is none, or when a word means a device that is left out.
[[nodiscard]] std::string placement_for(const Devices& found, const SessionSettings& settings, std::int32_t kind);

}  // namespace latebind::provider
