// LoadOptions: the options of a load, from the compile specs of a program, the options of the backend and the options
// of one load. The keys are those of Latebind's table (docs/configuration.md), and four of the delegate; see kConfigKey
// and kActiveDeviceKey.
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

// A config.toml, which all options that are set by key override.
inline constexpr std::string_view kConfigKey = "config";
// The device that would answer now, its precision and the version of its runtime. Read-only.
inline constexpr std::string_view kActiveDeviceKey = "active_device";
inline constexpr std::string_view kActivePrecisionKey = "active_precision";
inline constexpr std::string_view kActiveRuntimeVersionKey = "active_runtime_version";

// What is wrong, in one line; std::nullopt on success.
using OptionError = std::optional<std::string>;

// The text in a buffer of fixed size, up to its first NUL.
[[nodiscard]] std::string_view text_in(std::span<const char> buffer);

class LoadOptions {
 public:
  // Sets a compile spec: text, possibly padded with NULs. The program may be untrusted, so only keys that say how a
  // model is computed are accepted.
  [[nodiscard]] OptionError set_spec(std::string_view key, std::string_view value);
  // Sets one of ExecuTorch's options, of any type. An empty text unsets the key.
  [[nodiscard]] OptionError set(const ::executorch::runtime::BackendOption& option);

  // Sets every option that `other` sets.
  void apply(const LoadOptions& other);

  // The text of a key, "" if it is not set; std::nullopt for unknown keys.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;

  // The options to load with: the configuration file, overridden by the options set by key. Its status() may be an
  // error.
  [[nodiscard]] Options resolved() const;

 private:
  OptionError set_text(std::string_view key, std::string_view value);

  std::string config_file_;
  Options options_;
};

}  // namespace latebind::delegate
