// Settings holds every value that a user may configure, typed; EffectiveSettings also records where each came from.
//
// One table, settings_schema(), defines all of them: the keys of config.toml, of the C interface and of its hosts, the
// environment variables, the command-line flags, their help, and docs/configuration.md. Only the table knows words,
// bounds and defaults. Sources are applied in order, and later ones win. Unknown keys and words are errors that suggest
// the nearest known one.
//
// Both are value types without synchronisation.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/backend/backend_setting.h"
#include "core/config.h"
#include "core/engine/shape_mode.h"
#include "core/log.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::app {

struct Settings {
  std::string device = "auto";
  bool strict = false;
  bool emulate = false;
  bool verify = false;                                             // compares each device with another one
  std::string verify_against{};                                    // empty: the first other CPU
  std::vector<core::Precision> precisions{core::Precision::kF32};  // in the order in which they are tried on a device
  unsigned threads = 0;
  unsigned requests = 0;
  std::optional<core::PerformanceHint> hint{};  // std::nullopt: the job decides
  std::vector<core::Shape> input_shapes{};      // by input position; empty: as the model declares them
  core::BackendSettingTexts of_backends{};      // by full key; also those of plug-ins
  std::size_t batch_tokens = 0;
  std::size_t max_tokens = 0;  // 0: the model's limit
  std::string onnx_file{};     // empty: the weights, or the default ONNX file
  core::ShapeMode shapes = core::ShapeMode::kAutoShapes;
  std::vector<std::size_t> static_lengths{32, 64, 128, 256, 512};
  unsigned static_batch = 1;
  bool preload = false;
  std::optional<bool> cache{};  // std::nullopt: the job decides
  std::string cache_folder{};   // empty: the default folder
  std::uint64_t cache_bytes_max = std::uint64_t{10} << 30;
  std::chrono::milliseconds run_timeout{-1};   // -1: none on CPUs, a minute elsewhere; 0: none
  std::chrono::milliseconds load_timeout{-1};  // -1: see load_timeout_of(); 0: none
  std::chrono::milliseconds backoff_first{1000};
  std::chrono::milliseconds backoff_most{300'000};
  bool warm_standby = false;
  std::map<std::string, std::string, std::less<>> properties{};  // passed to the vendor unchanged
  // Settings of the daemon: server.…
  std::vector<std::string> models{};                  // as on its command line
  std::vector<std::string> aliases{};                 // NAME=MODEL, or NAME
  std::vector<std::string> listen{"127.0.0.1:8080"};  // the syntax of server/transport's ListenAddress
  std::string api_key{};                              // empty: only the keys of the file
  std::string api_key_file{};                         // empty: no keys
  std::string tls_certificate{};                      // empty: no TLS
  std::string tls_key{};
  std::vector<std::string> cors_origins{};
  unsigned connections_max = 1024;
  std::uint64_t body_bytes_max = std::uint64_t{32} << 20;
  std::size_t texts_max = 2048;             // per request
  std::uint64_t queue_tokens_max = 131072;  // waiting for one model
  std::chrono::milliseconds request_timeout{60'000};
  std::chrono::milliseconds drain_timeout{30'000};
  bool auto_truncate = true;
  int compute_nice = 0;  // of the computing threads
  std::uint64_t queue_runs_max = 256;
  std::uint64_t held_bytes_max = std::uint64_t{512} << 20;
  bool token_vectors = false;
  bool allow_dimensions = false;
  bool strict_requests = false;
  bool log_json = false;
  core::LogLevel log_level = core::LogLevel::kInfo;
  std::string otlp_endpoint{};  // empty: no traces are sent
  std::string ready_file{};     // empty: none
  bool quiet = false;
};

// The family of the plug-ins' settings: "plugin.NAME.KEY".
inline constexpr std::string_view kPluginSettings = "plugin.";

inline constexpr std::string_view kTruth = "true|false";
inline constexpr std::string_view kTruthOrAuto = "auto|true|false";

// One row of the table. A key that ends in a dot is a family ("property."): every key with that prefix can be set.
struct SettingSpec {
  std::string_view key;          // in config.toml; a dot separates table and key
  std::string_view environment;  // "LATEBIND_DEVICE"; empty if no variable sets it
  std::string_view flag;         // "--device"; empty if no option sets it
  std::string_view value;        // the form of a value: "PLACEMENT", "N", kTruth
  std::string_view help;         // one paragraph
  // The setting selects code to load, files to trust or what a vendor receives, so privileged processes ignore its
  // environment variable.
  bool trusted = false;
  // `key` is the full key. An error leaves the settings unchanged.
  core::Status (*assign)(Settings& settings, std::string_view key, std::string_view text) = nullptr;
  std::string (*text)(const Settings& settings, std::string_view key) = nullptr;

  // The setting only affects how a model is computed, so an untrusted file, such as an ExecuTorch program, may set it.
  bool of_model = false;
  // Reports do not show the value.
  bool is_secret = false;
  // 'q' for a flag with the short form -q; otherwise 0.
  char letter = 0;
  // The words that a value, or an item of a list, may be. Null: those of `value`, or of the backend.
  std::vector<std::string_view> (*words)() = nullptr;

  [[nodiscard]] bool is_family() const { return key.ends_with('.'); }
  // The key for people: "property.KEY" for a family.
  [[nodiscard]] std::string shown_key() const {
    if (!is_family()) return std::string(key);
    return std::string(key) + (key == kPluginSettings ? "NAME.KEY" : "KEY");
  }
  [[nodiscard]] bool is_truth() const { return value == kTruth || value == kTruthOrAuto; }
  // The value is a comma-separated list.
  [[nodiscard]] bool is_list() const { return value.ends_with(",..."); }
  // The words for completion, without opening any vendor's library. Empty if only other values are allowed.
  [[nodiscard]] std::vector<std::string_view> known_words() const;
  // Whether a value may be a whole number, or is a text that happens to look like one.
  [[nodiscard]] bool takes_numbers() const {
    return is_family() || is_truth() || value == "N" || value.starts_with("N,") || value.starts_with("N|") ||
           value == "SIZE" || value.find("PORT") != std::string_view::npos;
  }
};

// All settings, in documentation order.
[[nodiscard]] std::span<const SettingSpec> settings_schema();

// Returns the setting of this key, or null.
[[nodiscard]] const SettingSpec* find_setting(std::string_view key);
// Like find_setting(), but also accepts the key of a family, which has no value.
[[nodiscard]] const SettingSpec* find_setting_or_family(std::string_view key);

// "unknown setting 'KEY' (did you mean …?); known: …"
[[nodiscard]] core::Status unknown_setting_error(std::string_view key);

// Returns the folder of the compile cache, or kNotFound if none is configured and the user has no cache folder.
[[nodiscard]] core::Result<std::filesystem::path> compile_cache_folder(const Settings& settings);

// Parses "f16,f32": one or more distinct precisions.
[[nodiscard]] core::Result<std::vector<core::Precision>> parse_precisions(std::string_view text);

// Settings, and for each key that is set, the last source that set it.
class EffectiveSettings {
 public:
  [[nodiscard]] const Settings& values() const { return values_; }

  [[nodiscard]] bool is_set(std::string_view key) const { return given_.find(key) != given_.end(); }
  // The value as text, the default if the key is not set, "" if it is unknown. The reference is valid until the key
  // changes.
  [[nodiscard]] const std::string& text_of(std::string_view key) const;
  // Where the value came from: "default", a file and line, "environment LATEBIND_DEVICE", "--device", or what set() was
  // given. The reference is valid until the key changes.
  [[nodiscard]] const std::string& origin_of(std::string_view key) const;
  // Every key of the table; for families, the keys that are set.
  [[nodiscard]] std::vector<std::string> keys() const;

  // Returns kInvalidArgument, which names `origin` unless empty, the key and the mistake, and leaves the settings
  // unchanged.
  [[nodiscard]] core::Status set(std::string_view key, std::string_view text, std::string origin);
  // Restores the default. Returns kInvalidArgument for unknown keys.
  [[nodiscard]] core::Status unset(std::string_view key);
  // Sets everything that `over` sets, with its origins. Returns kInvalidArgument if that exceeds the limit of a family.
  // This function and those below change everything or nothing.
  [[nodiscard]] core::Status apply(const EffectiveSettings& over);

  // Applies a config.toml. Returns kNotFound if it does not exist, and kInvalidArgument with file and line for a
  // mistake.
  [[nodiscard]] core::Status apply_toml(const std::filesystem::path& file);
  // Like apply_toml(), from text. `name` stands for the file in messages.
  [[nodiscard]] core::Status apply_toml_text(std::string_view toml, const std::string& name);

  // Applies every LATEBIND_… variable that is set. A variable that no setting has is an error.
  [[nodiscard]] core::Status apply_environment();
  // Like the above, from a list of names and values, for tests.
  [[nodiscard]] core::Status apply_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                               bool privileged);

  // Applies the system's file, the user's file, `config_file` unless empty, and the environment. Missing files are
  // skipped, except `config_file`. An unreadable user's file is logged as a warning.
  [[nodiscard]] core::Status apply_standard(const std::filesystem::path& config_file);

  // The settings to pass to the backends. Excludes those from the environment: the search for a library reads it
  // directly, so that its errors can name the variable.
  [[nodiscard]] core::BackendSettingTexts of_backends() const;

 private:
  struct Given {
    std::string text;
    std::string origin;
  };
  // The number of keys that are set in families.
  [[nodiscard]] std::size_t in_families() const;
  // Becomes `changed` without allocating. Entries in both stay in place, because callers hold references to them.
  void adopt(EffectiveSettings&& changed) noexcept;

  Settings values_;
  std::map<std::string, Given, std::less<>> given_;
};

}  // namespace latebind::app
