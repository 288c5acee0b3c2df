// Settings: every value that a user may configure, typed, and where each one came from.
//
// One table (settings_schema) defines all of it: keys of config.toml, of the C interface and of its hosts, environment
// variables, command-line flags, their help and docs/configuration.md. It is the only place that knows words, bounds
// and defaults. Sources are applied in order and later ones win; what is not set has no influence. Unknown keys and
// words are errors that suggest the nearest known one.
//
// A value type; not shared between threads while it is being built.
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

#include "core/backend_setting.h"
#include "core/config.h"
#include "core/log.h"
#include "core/result.h"
#include "core/shape_mode.h"
#include "core/tensor.h"

namespace latebind::app {

struct Settings {
  std::string device = "auto";
  bool strict = false;
  bool emulate = false;
  bool verify = false;                                             // compares each device with another one
  std::string verify_against{};                                    // empty: the first other CPU
  std::vector<core::Precision> precisions{core::Precision::kF32};  // in the order in which a device is asked
  unsigned threads = 0;
  unsigned requests = 0;
  std::optional<core::PerformanceHint> hint{};  // nothing: what the job wants
  std::vector<core::Shape> input_shapes{};      // by input position; empty: as the model declares them
  core::BackendSettingTexts of_backends{};      // by their full keys
  std::size_t batch_tokens = 0;
  std::size_t max_tokens = 0;  // 0: the model's limit
  std::string onnx_file{};     // empty: the weights, or the usual one
  core::ShapeMode shapes = core::ShapeMode::kAutoShapes;
  std::vector<std::size_t> static_lengths{32, 64, 128, 256, 512};
  unsigned static_batch = 1;
  bool preload = false;
  std::optional<bool> cache{};  // nothing: what the job wants
  std::string cache_folder{};   // empty: the standard one
  std::uint64_t cache_bytes_max = std::uint64_t{10} << 30;
  std::chrono::milliseconds run_timeout{-1};   // -1: none on CPUs, a minute elsewhere; 0: none
  std::chrono::milliseconds load_timeout{-1};  // -1: see load_timeout_of(); 0: none
  std::chrono::milliseconds backoff_first{1000};
  std::chrono::milliseconds backoff_most{300'000};
  bool warm_standby = false;
  std::map<std::string, std::string, std::less<>> properties{};  // for the vendor, unchanged
  // Of the daemon: server.…
  std::vector<std::string> models{};                  // as its command line has them
  std::vector<std::string> aliases{};                 // NAME=MODEL, or NAME
  std::vector<std::string> listen{"127.0.0.1:8080"};  // as ListenAddress of server/transport reads them
  std::string api_key{};                              // empty: none but those of the file
  std::string api_key_file{};                         // empty: no keys
  std::string tls_certificate{};                      // empty: no TLS
  std::string tls_key{};
  std::vector<std::string> cors_origins{};
  unsigned connections_max = 1024;
  std::uint64_t body_bytes_max = std::uint64_t{32} << 20;
  std::size_t texts_max = 2048;             // of one request
  std::uint64_t queue_tokens_max = 131072;  // that wait for one model
  std::chrono::milliseconds request_timeout{60'000};
  std::chrono::milliseconds drain_timeout{30'000};
  bool auto_truncate = true;
  int compute_nice = 0;  // of the threads that compute
  std::uint64_t queue_runs_max = 256;
  std::uint64_t held_bytes_max = std::uint64_t{512} << 20;
  bool token_vectors = false;
  bool allow_dimensions = false;
  bool strict_requests = false;
  bool log_json = false;
  core::LogLevel log_level = core::LogLevel::kInfo;
  std::string otlp_endpoint{};  // empty: traces go nowhere
  std::string ready_file{};     // empty: none
  bool quiet = false;
};

inline constexpr std::string_view kTruth = "true|false";
inline constexpr std::string_view kTruthOrAuto = "auto|true|false";

// One line of the table. A key that ends in a dot stands for all keys that begin with it ("property."): each may be set
// by itself.
struct SettingSpec {
  std::string_view key;          // in config.toml; a dot separates table and key
  std::string_view environment;  // "LATEBIND_DEVICE"; empty when there is none
  std::string_view flag;         // "--device"; empty when there is none
  std::string_view value;        // what a value looks like: "PLACEMENT", "N", kTruth
  std::string_view help;         // one paragraph
  // Chooses code to load, files to trust or what is passed to a vendor: its environment variable is ignored in
  // privileged processes.
  bool trusted = false;
  // `key` is the full one. An error leaves the settings as they are.
  core::Status (*assign)(Settings& settings, std::string_view key, std::string_view text) = nullptr;
  std::string (*text)(const Settings& settings, std::string_view key) = nullptr;

  // May come from an untrusted file, such as a program of ExecuTorch: how a model is computed, and nothing else.
  bool of_model = false;
  // No report shows its value.
  bool is_secret = false;
  // "q" for a flag that is also -q; else 0.
  char letter = 0;

  [[nodiscard]] bool is_family() const { return key.ends_with('.'); }
  [[nodiscard]] bool is_truth() const { return value == kTruth || value == kTruthOrAuto; }
  // Several texts with commas between.
  [[nodiscard]] bool is_list() const { return value.ends_with(",..."); }
  // Whether a value may be a whole number, or is a text that happens to look like one.
  [[nodiscard]] bool takes_numbers() const {
    return is_family() || is_truth() || value == "N" || value.starts_with("N,") || value.starts_with("N|") ||
           value == "SIZE" || value.find("PORT") != std::string_view::npos;
  }
};

// Every setting, in the order in which documents list them.
[[nodiscard]] std::span<const SettingSpec> settings_schema();

// The setting of this key, or null.
[[nodiscard]] const SettingSpec* find_setting(std::string_view key);
// The same, also for the key of a family, which has no value of its own.
[[nodiscard]] const SettingSpec* find_setting_or_family(std::string_view key);

// "unknown setting 'KEY' (did you mean …?); known: …"
[[nodiscard]] core::Status unknown_setting_error(std::string_view key);

// The folder for compiled models. kNotFound when it is not configured and there is no cache folder for Latebind.
[[nodiscard]] core::Result<std::filesystem::path> compile_cache_folder(const Settings& settings);

// "f16,f32": one or several precisions, each once.
[[nodiscard]] core::Result<std::vector<core::Precision>> parse_precisions(std::string_view text);

// Settings and, for each key that was set by something, what set it last.
class EffectiveSettings {
 public:
  [[nodiscard]] const Settings& values() const { return values_; }

  [[nodiscard]] bool is_set(std::string_view key) const { return given_.find(key) != given_.end(); }
  // The value as text; the default's where it is not set, and "" for unknown keys. Refers to this object until the key
  // is changed.
  [[nodiscard]] const std::string& text_of(std::string_view key) const;
  // "default", a file and line, "environment LATEBIND_DEVICE", "--device"; what set() was given. Likewise.
  [[nodiscard]] const std::string& origin_of(std::string_view key) const;
  // Every key of the table, and for its families those that are set.
  [[nodiscard]] std::vector<std::string> keys() const;

  // kInvalidArgument names `origin`, which may be empty, the key and what is wrong; the settings are then unchanged.
  [[nodiscard]] core::Status set(std::string_view key, std::string_view text, std::string origin);
  // As if it had never been set. kInvalidArgument for unknown keys.
  [[nodiscard]] core::Status unset(std::string_view key);
  // The following functions change everything or nothing. Sets what `over` sets, with its origins. kInvalidArgument
  // where that exceeds the limit of a family.
  [[nodiscard]] core::Status apply(const EffectiveSettings& over);

  // A config.toml. kNotFound when there is none, kInvalidArgument with file and line otherwise.
  [[nodiscard]] core::Status apply_toml(const std::filesystem::path& file);
  // As above, from text; `name` stands for the file in messages.
  [[nodiscard]] core::Status apply_toml_text(std::string_view toml, const std::string& name);

  // Every LATEBIND_… variable that is set; one without a setting is an error.
  [[nodiscard]] core::Status apply_environment();
  // As above, from a list of names and values, for tests.
  [[nodiscard]] core::Status apply_environment(const std::vector<std::pair<std::string, std::string>>& variables,
                                               bool privileged);

  // The system's file, the user's, `config_file` if not empty, the environment. Missing files are skipped, but
  // `config_file` must exist. A user's file that may not be read is a warning in the log.
  [[nodiscard]] core::Status apply_standard(const std::filesystem::path& config_file);

  // What is passed to the backends. Values from the environment are left out: the search for a library reads it itself,
  // and then names the variable in errors.
  [[nodiscard]] core::BackendSettingTexts of_backends() const;

 private:
  struct Given {
    std::string text;
    std::string origin;
  };
  // Becomes `changed`; entries in both stay in place, since callers refer to them. Needs no memory.
  void adopt(EffectiveSettings&& changed) noexcept;

  Settings values_;
  std::map<std::string, Given, std::less<>> given_;
};

}  // namespace latebind::app
