// Settings: every value that a user may configure, typed, and where each one came from.
//
// One table (settings_schema) makes all of it: keys of config.toml, environment variables, command-line flags, their
// help and docs/configuration.md. Sources are applied in order and later ones win: defaults, the system's config.toml,
// the user's, one named on the command line, the environment, flags. Unknown keys and words are errors that suggest the
// nearest known one.
//
// A value type; not shared between threads while it is being built.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/backends.h"
#include "core/config.h"
#include "core/engine.h"
#include "core/result.h"
#include "core/shape_mode.h"

namespace latebind::app {

struct Settings {
  std::string device = "auto";
  bool strict = false;
  std::vector<core::Precision> precisions{core::Precision::kF32};  // in the order in which a device is asked
  unsigned threads = 0;
  unsigned requests = 0;
  std::string openvino_library{};
  std::string onnxruntime_library{};
  std::string onnxruntime_providers{};
  std::string probe_program{};
  bool emulate = false;
  std::size_t batch_tokens = 2048;
  core::ShapeMode shapes = core::ShapeMode::kAutoShapes;
  std::vector<std::size_t> buckets{32, 64, 128, 256, 512};
  unsigned static_batch = 1;
  bool preload = false;
  bool cache = true;
  std::string cache_folder{};  // empty: the standard one
  std::uint64_t cache_bytes_max = std::uint64_t{10} << 30;
  std::chrono::milliseconds run_timeout{-1};   // -1: none on CPUs, a minute elsewhere; 0: none
  std::chrono::milliseconds load_timeout{-1};  // -1: none on CPUs, five minutes elsewhere; 0: none
  std::chrono::milliseconds backoff_first{1000};
  std::chrono::milliseconds backoff_most{300'000};
  bool warm_standby = false;
};

inline constexpr std::string_view kTruth = "true|false";

struct SettingSpec {
  std::string_view key;          // in config.toml; a dot separates table and key
  std::string_view environment;  // "LATEBIND_DEVICE"
  std::string_view flag;         // "--device"; empty when there is none
  std::string_view value;        // what a value looks like: "PLACEMENT", "N"; kTruth when it is true or false
  std::string_view help;         // one paragraph
  // Chooses code to load or files to trust: its environment variable is ignored in privileged processes.
  bool trusted = false;
  core::Status (*assign)(Settings& settings, std::string_view text) = nullptr;
  std::string (*text)(const Settings& settings) = nullptr;
};

// Every setting, in the order in which documents list them.
[[nodiscard]] std::span<const SettingSpec> settings_schema();

// The folder for compiled models. kNotFound when it is not configured and there is no cache folder for Latebind.
[[nodiscard]] core::Result<std::filesystem::path> compile_cache_folder(const Settings& settings);
// How these settings say that a model is loaded and what happens when its device fails. The compile
// cache is opened; without a folder for it there is none.
[[nodiscard]] core::LoadOptions load_options(const Settings& settings);

// "f16,f32": one or several precisions, each once.
[[nodiscard]] core::Result<std::vector<core::Precision>> parse_precisions(std::string_view text);

// `precisions`: at least one.
void set_precisions(const std::vector<core::Precision>& precisions, core::LoadOptions& load);

// The setting of this key, or null.
[[nodiscard]] const SettingSpec* find_setting(std::string_view key);

// Settings and, for each key that was set by something, what set it last.
class EffectiveSettings {
 public:
  [[nodiscard]] const Settings& values() const { return values_; }
  // "default", a file and line, "environment LATEBIND_DEVICE", "--device".
  [[nodiscard]] std::string origin_of(std::string_view key) const;

  // kInvalidArgument names `origin`, the key and what is wrong; the settings are then unchanged.
  [[nodiscard]] core::Status set(std::string_view key, std::string_view text, std::string origin);

  // A config.toml. kNotFound when there is none, kInvalidArgument with file and line otherwise.
  [[nodiscard]] core::Status apply_toml(const std::filesystem::path& file);
  // As above, from text; `name` stands for the file in messages.
  [[nodiscard]] core::Status apply_toml_text(std::string_view toml, const std::string& name);

  // Every LATEBIND_… variable that is set; one that no setting knows is an error.
  [[nodiscard]] core::Status apply_environment();
  // As above, from a list of names and values, for tests.
  [[nodiscard]] core::Status apply_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                               bool privileged);

  // Defaults, the system's file, the user's, `config_file` if not empty, the environment. Files that are not there are
  // passed over, but `config_file` must be.
  static core::Result<EffectiveSettings> standard(const std::filesystem::path& config_file);

 private:
  Settings values_;
  std::map<std::string, std::string, std::less<>> origins_;
};

// Where the vendors' libraries are said to be. What the environment says is left out: the search for a library asks it
// itself, and then names the variable when that is the mistake.
[[nodiscard]] BackendPaths backend_paths(const EffectiveSettings& settings);

}  // namespace latebind::app
