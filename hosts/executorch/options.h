// The options of a load: compile specs of a program, options of the backend, and options of one load. All of them are
// keys of Latebind's own table (docs/configuration.md), and four of the delegate's: see kConfigKey and
// kActiveDeviceKey.
//
// A value type. Latebind checks keys and values.
#pragma once

#include <executorch/runtime/backend/options.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "latebind/latebind.hpp"

namespace latebind::delegate {

// A config.toml, which is overridden by all that is set by key.
inline constexpr std::string_view kConfigKey = "config";
// The device that would answer now, what it computes in, and the version of its runtime. Read-only.
inline constexpr std::string_view kActiveDeviceKey = "active_device";
inline constexpr std::string_view kActivePrecisionKey = "active_precision";
inline constexpr std::string_view kActiveRuntimeVersionKey = "active_runtime_version";

// What is wrong, in one line; nothing on success.
using OptionError = std::optional<std::string>;

// A text in a buffer of fixed size, up to its first NUL.
[[nodiscard]] std::string_view text_in(std::span<const char> buffer);

class LoadOptions {
 public:
  // A compile spec: text, perhaps padded with NULs. The program may be untrusted: only keys that say how it is computed
  // are accepted.
  [[nodiscard]] OptionError set_spec(std::string_view key, std::string_view value);
  // One of ExecuTorch's options, of any type. An empty text unsets the key.
  [[nodiscard]] OptionError set(const ::executorch::runtime::BackendOption& option);

  // What `other` sets, else what this sets.
  void apply(const LoadOptions& other);

  // As set, "" when not set; nothing for unknown keys.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;

  // The options to load with: the configuration file, overridden by what is set. Its status() may be an error.
  [[nodiscard]] Options resolved() const;

 private:
  OptionError set_text(std::string_view key, std::string_view value);

  std::string config_file_;
  Options options_;
};

}  // namespace latebind::delegate
