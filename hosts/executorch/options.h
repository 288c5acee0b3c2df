// What a load is asked for: compile specs of a program, options of the backend, and options of one load. All of them
// are keys of Latebind's own table (docs/configuration.md), and two of the delegate's: see kConfigKey and
// kActiveDeviceKey.
//
// A value type. What keys and words may be is Latebind's to say.
#pragma once

#include <executorch/runtime/backend/options.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "latebind/latebind.hpp"

namespace latebind::delegate {

// A config.toml, which gives way to all that is set by key.
inline constexpr std::string_view kConfigKey = "config";
// Who would answer now. Can only be read.
inline constexpr std::string_view kActiveDeviceKey = "active_device";

// What is wrong, in one line; nothing when all is right.
using OptionError = std::optional<std::string>;

// A text in a buffer of fixed size, up to its first NUL.
[[nodiscard]] std::string_view text_in(std::span<const char> buffer);

class LoadOptions {
 public:
  // A compile spec: text, perhaps padded with NULs. Whoever made the program may be a stranger: only what says how it
  // is to be computed is taken.
  [[nodiscard]] OptionError set_spec(std::string_view key, std::string_view value);
  // One of ExecuTorch's options, of whatever type. An empty text takes back what was set.
  [[nodiscard]] OptionError set(const ::executorch::runtime::BackendOption& option);

  // What `other` says, and where it says nothing what this says.
  void apply(const LoadOptions& other);

  // As set, "" when it is not; nothing for keys that there are not.
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;

  // What is loaded with: the configuration file, and what is set over it. Its status() may be an error.
  [[nodiscard]] Options resolved() const;

 private:
  OptionError set_text(std::string_view key, std::string_view value);

  std::string config_file_;
  Options options_;
};

}  // namespace latebind::delegate
