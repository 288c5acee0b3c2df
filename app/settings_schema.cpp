#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "app/backends.h"
#include "app/settings.h"
#include "app/shape_text.h"
#include "core/placement/placement_words.h"
#include "core/platform/files/folders.h"
#include "core/platform/thread_nice.h"
#include "core/text/ascii.h"
#include "core/text/option_text.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::app {
namespace {

using core::list_items;
using core::parse_integer;
using core::parse_word;
using core::Result;
using core::Status;
using core::StatusCode;
using core::unknown_word_error;
using core::word_of;

constexpr std::int64_t kThreadsMax = 1024;
constexpr std::int64_t kRequestsMax = 256;
constexpr std::int64_t kTokensMax = std::int64_t{1} << 20;
constexpr std::int64_t kMillisecondsMax = std::int64_t{24} * 3600 * 1000;
constexpr std::size_t kStaticLengthsMax = 32;
constexpr std::size_t kItemsMax = 64;
constexpr std::int64_t kDimensionMax = std::int64_t{1} << 40;
constexpr std::string_view kProperties = "property.";

Result<bool> parse_bool(std::string_view text) {
  if (const auto truth = core::parse_truth(text)) return *truth;
  return Status(StatusCode::kInvalidArgument, fmt::format("must be true or false, not {}", core::quoted(text, 64)));
}

template <auto Member>
Status assign_bool(Settings& settings, std::string_view /*key*/, std::string_view text) {
  LB_ASSIGN_OR_RETURN(settings.*Member, parse_bool(text));
  return {};
}

template <auto Member>
std::string bool_text(const Settings& settings, std::string_view /*key*/) {
  return settings.*Member ? "true" : "false";
}

template <auto Member>
Status assign_text(Settings& settings, std::string_view /*key*/, std::string_view text) {
  settings.*Member = std::string(text);
  return {};
}

template <auto Member>
std::string text_text(const Settings& settings, std::string_view /*key*/) {
  return settings.*Member;
}

template <auto Member, std::int64_t Least, std::int64_t Most>
Status assign_number(Settings& settings, std::string_view /*key*/, std::string_view text) {
  LB_ASSIGN_OR_RETURN(const std::int64_t value, parse_integer("value", text, Least, Most));
  settings.*Member = static_cast<std::remove_reference_t<decltype(settings.*Member)>>(value);
  return {};
}

template <auto Member>
std::string number_text(const Settings& settings, std::string_view /*key*/) {
  return std::to_string(settings.*Member);
}

template <auto Member, std::int64_t Least>
Status assign_milliseconds(Settings& settings, std::string_view /*key*/, std::string_view text) {
  LB_ASSIGN_OR_RETURN(const std::int64_t value, parse_integer("milliseconds", text, Least, kMillisecondsMax));
  settings.*Member = std::chrono::milliseconds(value);
  return {};
}

template <auto Member>
std::string milliseconds_text(const Settings& settings, std::string_view /*key*/) {
  return std::to_string((settings.*Member).count());
}

template <auto Member>
Status assign_word(Settings& settings, std::string_view /*key*/, std::string_view text) {
  using E = std::remove_reference_t<decltype(settings.*Member)>;
  LB_ASSIGN_OR_RETURN(settings.*Member, parse_word<E>(text));
  return {};
}

template <auto Member>
std::string word_text(const Settings& settings, std::string_view /*key*/) {
  return std::string(word_of(settings.*Member));
}

Status assign_precisions(Settings& settings, std::string_view /*key*/, std::string_view text) {
  LB_ASSIGN_OR_RETURN(settings.precisions, parse_precisions(text));
  return {};
}

std::string precisions_text(const Settings& settings, std::string_view /*key*/) {
  std::string text;
  for (const core::Precision precision : settings.precisions)
    text += fmt::format("{}{}", text.empty() ? "" : ",", word_of(precision));
  return text;
}

template <auto Member>
Status assign_timeout(Settings& settings, std::string_view /*key*/, std::string_view text) {
  if (text == "auto") {
    settings.*Member = std::chrono::milliseconds(-1);
    return {};
  }
  return assign_milliseconds<Member, 0>(settings, {}, text);
}

template <auto Member>
std::string timeout_text(const Settings& settings, std::string_view /*key*/) {
  return (settings.*Member).count() < 0 ? "auto" : std::to_string((settings.*Member).count());
}

// The word for leaving the choice to the job.
constexpr std::string_view kAuto = "auto";

Status assign_hint(Settings& settings, std::string_view /*key*/, std::string_view text) {
  using HintWords = core::Words<core::PerformanceHint>;
  std::optional<core::PerformanceHint> hint;
  std::vector<std::string_view> known{kAuto};
  for (const auto& word : HintWords::kWords) {
    if (word.text == text) hint = word.value;
    known.push_back(word.text);
  }
  if (!hint && text != kAuto) return unknown_word_error(HintWords::kWhat, text, known);
  settings.hint = hint;
  return {};
}

std::string hint_text(const Settings& settings, std::string_view /*key*/) {
  return std::string(settings.hint ? word_of(*settings.hint) : kAuto);
}

Status assign_cache(Settings& settings, std::string_view /*key*/, std::string_view text) {
  std::optional<bool> cache;
  if (text != kAuto) {
    LB_ASSIGN_OR_RETURN(cache, parse_bool(text));
  }
  settings.cache = cache;
  return {};
}

std::string cache_text(const Settings& settings, std::string_view /*key*/) {
  return std::string(settings.cache ? (*settings.cache ? "true" : "false") : kAuto);
}

Status assign_input_shapes(Settings& settings, std::string_view /*key*/, std::string_view text) {
  std::vector<core::Shape> shapes;
  if (!text.empty()) {
    for (const std::string_view item : list_items(text)) {
      const std::string which = fmt::format("input {}", shapes.size());
      // Vendors crash on dimensions of 0.
      LB_ASSIGN_OR_RETURN(shapes.emplace_back(), parse_shape(which, item, 1, kDimensionMax));
    }
  }
  settings.input_shapes = std::move(shapes);
  return {};
}

std::string input_shapes_text(const Settings& settings, std::string_view /*key*/) {
  std::string text;
  for (const core::Shape& shape : settings.input_shapes)
    text += (text.empty() ? "" : ",") + shape_text(shape);
  return text;
}

Status assign_of_backend(Settings& settings, std::string_view key, std::string_view text) {
  const auto all = backend_settings();
  const std::span<const std::string_view> words = std::ranges::find(all, key, &core::BackendSetting::key)->words;
  if (!text.empty() && !words.empty() && std::ranges::find(words, text) == words.end())
    return core::unknown_word_error("value", text, words);
  settings.of_backends.insert_or_assign(std::string(key), std::string(text));
  return {};
}

std::string of_backend_text(const Settings& settings, std::string_view key) {
  return core::text_of(settings.of_backends, key);
}

Status assign_of_plugin(Settings& settings, std::string_view key, std::string_view text) {
  const std::string_view rest = key.substr(kPluginSettings.size());
  const auto dot = rest.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == rest.size()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("must be {}NAME.KEY: the plug-in's name, and a setting of it", kPluginSettings));
  }
  settings.of_backends.insert_or_assign(std::string(key), std::string(text));
  return {};
}

Status assign_property(Settings& settings, std::string_view key, std::string_view text) {
  settings.properties.insert_or_assign(std::string(key.substr(kProperties.size())), std::string(text));
  return {};
}

std::string property_text(const Settings& settings, std::string_view key) {
  const auto found = settings.properties.find(key.substr(kProperties.size()));
  return found != settings.properties.end() ? found->second : std::string();
}

// A key as an HTTP header carries it. Errors never show it.
Status assign_key(Settings& settings, std::string_view /*key*/, std::string_view text) {
  if (std::ranges::any_of(text, [](char letter) { return static_cast<unsigned char>(letter) <= ' '; }) ||
      core::find_invalid_utf8(text)) {
    return Status(StatusCode::kInvalidArgument, "is not a key: a key is UTF-8 text without blanks");
  }
  settings.api_key = std::string(text);
  return {};
}

// "10GiB", "500MB", "1048576"
template <auto Member, bool TakesZero = false>
Status assign_bytes(Settings& settings, std::string_view /*key*/, std::string_view text) {
  struct Unit {
    std::string_view suffix;
    std::uint64_t factor = 1;
  };
  constexpr std::array kUnits{Unit{"KiB", 1ULL << 10U}, Unit{"MiB", 1ULL << 20U}, Unit{"GiB", 1ULL << 30U},
                              Unit{"KB", 1'000},        Unit{"MB", 1'000'000},    Unit{"GB", 1'000'000'000}};
  std::string_view digits = text;
  std::uint64_t factor = 1;
  for (const Unit& unit : kUnits) {
    if (text.ends_with(unit.suffix)) {
      digits = text.substr(0, text.size() - unit.suffix.size());
      factor = unit.factor;
      break;
    }
  }
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
      value > std::numeric_limits<std::uint64_t>::max() / factor) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("must be a size such as 10GiB, 500MB or 1048576, not {}", core::quoted(text, 64)));
  }
  if (!TakesZero && value == 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("must be a size above 0, such as 32MiB, not {}", core::quoted(text, 64)));
  }
  settings.*Member = value * factor;
  return {};
}

// "npu,openvino:CPU": words, and device names after a colon. Only the backends know which devices exist.
Status check_placement(std::string_view text) {
  for (const std::string_view item : list_items(text)) {
    const auto colon = item.find(':');
    const std::string_view word = item.substr(0, colon);
    const std::string_view device = colon == std::string_view::npos ? "-" : item.substr(colon + 1);
    const auto is_of_word = [](char c) {
      return core::is_ascii_letter(c) || core::is_ascii_digit(c) || c == '_' || c == '-';
    };
    const auto is_printable = [](char c) { return static_cast<unsigned char>(c) > ' ' && c != '\x7f'; };
    if (word.empty() || !core::is_ascii_letter(word.front()) || !std::ranges::all_of(word, is_of_word) ||
        device.empty() || core::find_invalid_utf8(device) || !std::ranges::all_of(device, is_printable)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("must be devices separated by commas, such as auto, npu,cpu or openvino:CPU, not {}",
                                core::quoted(text, 64)));
    }
  }
  return {};
}

Status assign_device(Settings& settings, std::string_view /*key*/, std::string_view text) {
  LB_RETURN_IF_ERROR(check_placement(text));
  settings.device = std::string(text);
  return {};
}

// Comma-separated items. An empty value is an empty list.
template <auto Member>
Status assign_list(Settings& settings, std::string_view /*key*/, std::string_view text) {
  std::vector<std::string> items;
  if (!text.empty()) {
    for (const std::string_view item : list_items(text)) {
      if (item.empty()) return Status(StatusCode::kInvalidArgument, "has an empty item between its commas");
      if (items.size() == kItemsMax) {
        return Status(StatusCode::kInvalidArgument, fmt::format("has more than {} items", kItemsMax));
      }
      items.emplace_back(item);
    }
  }
  settings.*Member = std::move(items);
  return {};
}

// "127.0.0.1:8080", "[::1]:0", "unix:/run/latebind.sock". A port alone, "8080" or ":8080", means loopback. Whether the
// address is available is only known when the server listens.
Status assign_listen(Settings& settings, std::string_view key, std::string_view text) {
  Settings read;
  LB_RETURN_IF_ERROR(assign_list<&Settings::listen>(read, key, text));
  for (std::string& item : read.listen) {
    const std::string_view port = std::string_view(item).substr(item.starts_with(':') ? 1 : 0);
    if (parse_integer("the port", port, 0, 65535).ok()) item = fmt::format("127.0.0.1:{}", port);
    const auto colon = item.rfind(':');
    const bool has_two_parts = colon != std::string::npos && colon > 0 && colon + 1 < item.size();
    const bool fits = has_two_parts &&
                      (item.starts_with("unix:") || parse_integer("the port", item.substr(colon + 1), 0, 65535).ok());
    if (!fits) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("has {}, which is not an address to listen at; write 8080, 127.0.0.1:8080, [::1]:8080, "
                                "0.0.0.0:8080 or unix:/run/latebind.sock",
                                core::quoted(item, 200)));
    }
  }
  settings.listen = std::move(read.listen);
  return {};
}

template <auto Member>
std::string list_text(const Settings& settings, std::string_view /*key*/) {
  return fmt::format("{}", fmt::join(settings.*Member, ","));
}

Status assign_log_format(Settings& settings, std::string_view /*key*/, std::string_view text) {
  static constexpr std::array<std::string_view, 2> kKnown{"text", "json"};
  if (text != "text" && text != "json") return unknown_word_error("log format", text, kKnown);
  settings.log_json = text == "json";
  return {};
}

constexpr std::array<std::string_view, 4> kLogLevels{"debug", "info", "warning", "error"};

Status assign_log_level(Settings& settings, std::string_view /*key*/, std::string_view text) {
  const auto* const found = std::ranges::find(kLogLevels, text);
  if (found == kLogLevels.end()) return unknown_word_error("log level", text, kLogLevels);
  settings.log_level = static_cast<core::LogLevel>(found - kLogLevels.begin());
  return {};
}

std::string log_level_text(const Settings& settings, std::string_view /*key*/) {
  return std::string(kLogLevels[static_cast<std::size_t>(settings.log_level)]);
}

std::string log_format_text(const Settings& settings, std::string_view /*key*/) {
  return settings.log_json ? "json" : "text";
}

// "32,64,128": ascending, without duplicates.
Status assign_static_lengths(Settings& settings, std::string_view /*key*/, std::string_view text) {
  std::vector<std::size_t> lengths;
  for (const std::string_view word : list_items(text)) {
    LB_ASSIGN_OR_RETURN(const std::int64_t value, parse_integer("a length", word, 1, kTokensMax));
    if (!lengths.empty() && static_cast<std::size_t>(value) <= lengths.back()) {
      return Status(StatusCode::kInvalidArgument, "must be lengths in rising order, such as 32,64,128");
    }
    lengths.push_back(static_cast<std::size_t>(value));
    if (lengths.size() > kStaticLengthsMax) {
      return Status(StatusCode::kInvalidArgument, fmt::format("has more than {} lengths", kStaticLengthsMax));
    }
  }
  settings.static_lengths = std::move(lengths);
  return {};
}

std::string static_lengths_text(const Settings& settings, std::string_view /*key*/) {
  return fmt::format("{}", fmt::join(settings.static_lengths, ","));
}

// Whether the device exists is only known when it is looked up.
Status assign_against(Settings& settings, std::string_view /*key*/, std::string_view text) {
  const auto colon = text.find(':');
  if (!text.empty() && (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("must be one device, such as onnxruntime:CPU, not {}", core::quoted(text, 64)));
  }
  settings.verify_against = std::string(text);
  return {};
}

std::vector<std::string_view> precision_words() {
  std::vector<std::string_view> words;
  for (const auto& word : core::Words<core::Precision>::kWords)
    words.push_back(word.text);
  return words;
}

std::vector<std::string_view> device_words() {
  std::vector<std::string_view> words(core::kPlacementWords.begin(), core::kPlacementWords.end());
  const auto backends = built_in_backends();
  words.insert(words.end(), backends.begin(), backends.end());
  return words;
}

constexpr SettingSpec kFirst[] = {
    SettingSpec{
        "device", "LATEBIND_DEVICE", "--device", "PLACEMENT",
        "Devices to try in this order, separated by commas: auto, npu, gpu, cpu, a backend (openvino, onnxruntime, "
        "native) or a device as `latebind devices` lists it (openvino:CPU). auto is npu, then gpu, then cpu.",
        false, assign_device, text_text<&Settings::device>, true, false, 0, device_words},
    SettingSpec{"strict", "LATEBIND_STRICT", "--strict", kTruth,
                "Reports an error instead of falling back to a later device of the list, both at load and at run time.",
                false, assign_bool<&Settings::strict>, bool_text<&Settings::strict>, true},
    SettingSpec{"emulate", "LATEBIND_EMULATE", "--emulate", kTruth,
                "Runs a virtual device that --device names exactly (onnxruntime:QNN.v73) in its vendor's emulator. It "
                "is slow and meant for checking numbers.",
                false, assign_bool<&Settings::emulate>, bool_text<&Settings::emulate>, true},
    SettingSpec{
        "precision", "LATEBIND_PRECISION", "--precision", "P,P,...",
        "Precision to compute in: f32, bf16, f16, int8, fast, or a list in order of preference, such as f16,f32. Each "
        "device takes the first one that it supports; NPUs support only f16. A device that supports none is skipped. "
        "Results say which precision was used. bf16 changes vectors in the fourth digit; it was 1.85 times as fast as "
        "f32 on an AMD EPYC with AVX-512 and 0.61 times as fast on a fifth-generation Xeon without AMX. `latebind "
        "doctor` measures this processor, and `latebind bench embed --precision f32,bf16` measures a model on it. int8 "
        "(native:CPU only) changes vectors in the second digit. fast (native:CPU only) is the fastest precision whose "
        "vectors kept a cosine of 0.999 to those of f32 when measured with all-MiniLM-L6-v2.",
        false, assign_precisions, precisions_text, true, false, 0, precision_words},
    SettingSpec{"threads", "LATEBIND_THREADS", "--threads", "N",
                "Threads that compute, shared by all requests. 0: one for each processor that this process may use.",
                false, assign_number<&Settings::threads, 0, kThreadsMax>, number_text<&Settings::threads>, true},
    SettingSpec{"requests", "LATEBIND_REQUESTS", "--requests", "N",
                "Requests that run in parallel on the device. 0: the vendor's choice.", false,
                assign_number<&Settings::requests, 0, kRequestsMax>, number_text<&Settings::requests>, true},
    SettingSpec{"hint", "LATEBIND_HINT", "--hint", "auto|latency|throughput",
                "What the device is tuned for. latency: one run at a time uses all threads. throughput: several runs "
                "in parallel. auto: throughput when the program embeds or compiles, otherwise latency.",
                false, assign_hint, hint_text, true},
    SettingSpec{"input_shapes", "LATEBIND_INPUT_SHAPES", "", "1x128,1x128",
                "One static shape for each input, in the model's order (scalar: rank 0). The model is compiled for "
                "these shapes only. Empty: the shapes that the model declares.",
                false, assign_input_shapes, input_shapes_text, true},
};

constexpr SettingSpec kAfterBackends[] = {
    SettingSpec{"embedding.batch_tokens", "LATEBIND_BATCH_TOKENS", "--batch-tokens", "N",
                "Tokens of a batch, including padding. 0: 1024 on a CPU, otherwise 2048. Larger batches need more "
                "memory; smaller ones use the device less well.",
                false, assign_number<&Settings::batch_tokens, 0, kTokensMax>, number_text<&Settings::batch_tokens>},
    SettingSpec{"embedding.max_tokens", "LATEBIND_MAX_TOKENS", "--max-tokens", "N",
                "Cuts each text to this many tokens, including special tokens. 0: the model's limit. A text that would "
                "become empty is an error.",
                false, assign_number<&Settings::max_tokens, 0, kTokensMax>, number_text<&Settings::max_tokens>},
    SettingSpec{"embedding.onnx_file", "LATEBIND_ONNX_FILE", "--onnx-file", "FILE",
                "The ONNX file of the model's folder to use instead of its weights, such as onnx/model_quantized.onnx. "
                "For a model on the hub, this file is downloaded instead of the weights. Empty: the weights, or "
                "onnx/model.onnx if there are none.",
                false, assign_text<&Settings::onnx_file>, text_text<&Settings::onnx_file>},
    SettingSpec{"embedding.shapes", "LATEBIND_SHAPES", "--shapes", "auto|dynamic|static",
                "static compiles one model for each static length. dynamic compiles one model for all lengths. auto is "
                "static on devices that need it (NPUs).",
                false, assign_word<&Settings::shapes>, word_text<&Settings::shapes>},
    SettingSpec{"embedding.static_lengths", "LATEBIND_STATIC_LENGTHS", "--static-lengths", "N,N,…",
                "Lengths, in tokens, that static models are compiled for, up to the model's limit.", false,
                assign_static_lengths, static_lengths_text},
    SettingSpec{"embedding.static_batch", "LATEBIND_STATIC_BATCH", "--static-batch", "N",
                "Rows (texts) of a static model.", false, assign_number<&Settings::static_batch, 1, 1024>,
                number_text<&Settings::static_batch>},
    SettingSpec{"embedding.preload", "LATEBIND_PRELOAD", "--preload", kTruth,
                "Compiles all static lengths in the background at start, shortest first, instead of each one when it "
                "is first needed.",
                false, assign_bool<&Settings::preload>, bool_text<&Settings::preload>},
    SettingSpec{"verification.enabled", "LATEBIND_VERIFY", "--verify", kTruth,
                "Compares the results of a device with those of another device when the model is loaded, and skips a "
                "device that disagrees. The verdict is kept in the cache.",
                false, assign_bool<&Settings::verify>, bool_text<&Settings::verify>},
    SettingSpec{"verification.against", "LATEBIND_VERIFY_AGAINST", "--against", "BACKEND:DEVICE",
                "The device to compare with, as `latebind devices` lists it. Empty: the first other CPU that can load "
                "the model.",
                false, assign_against, text_text<&Settings::verify_against>},
    SettingSpec{"cache.enabled", "LATEBIND_CACHE", "--cache", kTruthOrAuto,
                "Keeps compiled models between runs. auto: on in the program latebind, and in other programs if "
                "cache.folder is set.",
                false, assign_cache, cache_text},
    SettingSpec{"cache.folder", "LATEBIND_CACHE_FOLDER", "--cache-folder", "DIR",
                "Folder for compiled models. Empty: Latebind's folder in the user's cache folder. A folder that "
                "another user can write to is not used.",
                true, assign_text<&Settings::cache_folder>, text_text<&Settings::cache_folder>},
    SettingSpec{"cache.max_size", "LATEBIND_CACHE_MAX_SIZE", "--cache-max-size", "SIZE",
                "Largest size of the cache, such as 10GiB or 500MB. The least recently used models are removed when it "
                "grows beyond that.",
                false, assign_bytes<&Settings::cache_bytes_max, true>, number_text<&Settings::cache_bytes_max>},
    SettingSpec{"failover.run_timeout_ms", "LATEBIND_RUN_TIMEOUT_MS", "--run-timeout-ms", "N|auto",
                "Milliseconds after which a run counts as hung and another device answers. 0: never. auto: one minute, "
                "but never on CPUs.",
                false, assign_timeout<&Settings::run_timeout>, timeout_text<&Settings::run_timeout>},
    SettingSpec{
        "failover.load_timeout_ms", "LATEBIND_LOAD_TIMEOUT_MS", "--load-timeout-ms", "N|auto",
        "Milliseconds that a device may take to load a model. A slower device is skipped until it has loaded the "
        "model. 0: no limit. auto: five minutes, but no limit on CPUs except in a process that fork() made.",
        false, assign_timeout<&Settings::load_timeout>, timeout_text<&Settings::load_timeout>},
    SettingSpec{"failover.backoff_first_ms", "LATEBIND_BACKOFF_FIRST_MS", "", "N",
                "Milliseconds that a device rests after its first failure.", false,
                assign_milliseconds<&Settings::backoff_first, 1>, milliseconds_text<&Settings::backoff_first>},
    SettingSpec{"failover.backoff_most_ms", "LATEBIND_BACKOFF_MOST_MS", "", "N",
                "Longest rest, in milliseconds, between two probes of a device that keeps failing.", false,
                assign_milliseconds<&Settings::backoff_most, 1>, milliseconds_text<&Settings::backoff_most>},
    SettingSpec{"failover.warm_standby", "LATEBIND_WARM_STANDBY", "--warm-standby", kTruth,
                "Also loads the model on the second device, right after the first, so that a failover does not wait "
                "for a load.",
                false, assign_bool<&Settings::warm_standby>, bool_text<&Settings::warm_standby>},
    SettingSpec{"server.models", "LATEBIND_MODEL", "--model", "[NAME=]MODEL,...",
                "Models to serve: sentence-transformers models (a folder, a bundle, or ORG/NAME on the Hugging Face "
                "hub) or networks that take tensors (.onnx, .xml). Requests name a model as it is named here, or by "
                "ORG/NAME or NAME alone; NAME= gives it that name instead. A request that names no model goes to the "
                "first one. Models on the command line replace this list.",
                true, assign_list<&Settings::models>, list_text<&Settings::models>},
    SettingSpec{"server.aliases", "LATEBIND_ALIAS", "--alias", "NAME[=MODEL],...",
                "Additional names for requests, such as text-embedding-3-small=all-MiniLM-L6-v2. MODEL is any name of "
                "a served model; without it, NAME stands for the first model.",
                true, assign_list<&Settings::aliases>, list_text<&Settings::aliases>},
    SettingSpec{"server.listen", "LATEBIND_LISTEN", "--listen", "ADDRESS:PORT|unix:PATH,...",
                "Addresses to listen at, separated by commas: 127.0.0.1:8080, [::1]:8080, 0.0.0.0:8080, "
                "unix:/run/latebind.sock. 8080 and :8080 mean 127.0.0.1:8080. Port 0 takes a free port.",
                true, assign_listen, list_text<&Settings::listen>},
    SettingSpec{
        .key = "server.api_key",
        .environment = "LATEBIND_API_KEY",
        .flag = "",
        .value = "KEY",
        .help =
            "Requests must carry this key or one of server.api_key_file (Authorization: Bearer KEY, or x-api-key: "
            "KEY). It has no flag, because every user of the machine could read it there. Empty: no key is required.",
        .trusted = true,
        .assign = assign_key,
        .text = text_text<&Settings::api_key>,
        .is_secret = true},
    SettingSpec{"server.api_key_file", "LATEBIND_API_KEY_FILE", "--api-key-file", "FILE",
                "File of keys, one per line. Requests must carry one of them (Authorization: Bearer KEY, or x-api-key: "
                "KEY). Empty: no key is required.",
                true, assign_text<&Settings::api_key_file>, text_text<&Settings::api_key_file>},
    SettingSpec{"server.tls_certificate", "LATEBIND_TLS_CERT", "--tls-cert", "FILE",
                "PEM file of the server's certificate and its chain. Empty: no TLS.", true,
                assign_text<&Settings::tls_certificate>, text_text<&Settings::tls_certificate>},
    SettingSpec{"server.tls_key", "LATEBIND_TLS_KEY", "--tls-key", "FILE", "PEM file of the certificate's private key.",
                true, assign_text<&Settings::tls_key>, text_text<&Settings::tls_key>},
    SettingSpec{"server.cors_origins", "LATEBIND_CORS_ORIGIN", "--cors-origin", "ORIGIN,...",
                "Origins whose pages may call the server, such as https://example.org; * allows every origin. Empty: "
                "only the server's own page.",
                true, assign_list<&Settings::cors_origins>, list_text<&Settings::cors_origins>},
    SettingSpec{"server.max_connections", "LATEBIND_MAX_CONNECTIONS", "--max-connections", "N",
                "Largest number of simultaneous connections; further ones are answered with 503.", false,
                assign_number<&Settings::connections_max, 1, 65536>, number_text<&Settings::connections_max>},
    SettingSpec{"server.max_body", "LATEBIND_MAX_BODY", "--max-body", "SIZE",
                "Largest body of a request, such as 32MiB; larger ones are answered with 413.", false,
                assign_bytes<&Settings::body_bytes_max>, number_text<&Settings::body_bytes_max>},
    SettingSpec{"server.max_held", "LATEBIND_MAX_HELD", "--max-held", "SIZE",
                "Largest size of the bodies and answers that all connections hold together; beyond it, a request with "
                "a large body or a large answer is answered with 429.",
                false, assign_bytes<&Settings::held_bytes_max>, number_text<&Settings::held_bytes_max>},
    SettingSpec{"server.max_texts", "LATEBIND_MAX_TEXTS", "--max-texts", "N", "Largest number of texts in one request.",
                false, assign_number<&Settings::texts_max, 1, 1'000'000>, number_text<&Settings::texts_max>},
    SettingSpec{"server.max_queue_tokens", "LATEBIND_MAX_QUEUE_TOKENS", "--max-queue-tokens", "N",
                "Largest number of tokens that may be queued or running for one model, and so the longest wait of a "
                "request; beyond it, a request is answered with 429 at once.",
                false, assign_number<&Settings::queue_tokens_max, 1, std::int64_t{1} << 32>,
                number_text<&Settings::queue_tokens_max>},
    SettingSpec{"server.max_queue_runs", "LATEBIND_MAX_QUEUE_RUNS", "--max-queue-runs", "N",
                "Largest number of queued runs of one model that takes tensors; beyond it, a request is answered with "
                "429 at once.",
                false, assign_number<&Settings::queue_runs_max, 1, 1'000'000>, number_text<&Settings::queue_runs_max>},
    SettingSpec{
        "server.request_timeout_ms", "LATEBIND_REQUEST_TIMEOUT_MS", "--request-timeout-ms", "N",
        "Milliseconds after which a request is answered with 504; the header x-request-timeout-ms asks for less.",
        false, assign_milliseconds<&Settings::request_timeout, 1>, milliseconds_text<&Settings::request_timeout>},
    SettingSpec{"server.drain_timeout_ms", "LATEBIND_DRAIN_TIMEOUT_MS", "--drain-timeout-ms", "N",
                "Milliseconds that the server waits at shutdown for requests that it has accepted.", false,
                assign_milliseconds<&Settings::drain_timeout, 0>, milliseconds_text<&Settings::drain_timeout>},
    SettingSpec{"server.compute_nice", "LATEBIND_COMPUTE_NICE", "--compute-nice", "N",
                "Nice value of the threads that compute, from 0 to 19, so that the threads that answer requests run "
                "first. It also lets other programs of the same control group run first; the systemd unit and the "
                "container image, which have their own control groups, use 10. Linux only.",
                false, assign_number<&Settings::compute_nice, 0, platform::kNiceMost>,
                number_text<&Settings::compute_nice>},
    SettingSpec{"server.auto_truncate", "LATEBIND_AUTO_TRUNCATE", "--auto-truncate", kTruth,
                "Cuts texts that are too long for the model, unless a request says otherwise. false: such requests are "
                "answered with 413.",
                false, assign_bool<&Settings::auto_truncate>, bool_text<&Settings::auto_truncate>},
    SettingSpec{"server.allow_dimensions", "LATEBIND_ALLOW_DIMENSIONS", "--allow-dimensions", kTruth,
                "Cuts vectors to the dimensions that a request asks for, even if the model was not trained for it.",
                false, assign_bool<&Settings::allow_dimensions>, bool_text<&Settings::allow_dimensions>},
    SettingSpec{
        "server.token_vectors", "LATEBIND_TOKEN_VECTORS", "--token-vectors", kTruth,
        "Also serves the vectors of single tokens (/embed_all), and other outputs that models have besides their own.",
        false, assign_bool<&Settings::token_vectors>, bool_text<&Settings::token_vectors>},
    SettingSpec{"server.strict_requests", "LATEBIND_STRICT_REQUESTS", "--strict-requests", kTruth,
                "Answers 503 if only a fallback device could compute the answer.", false,
                assign_bool<&Settings::strict_requests>, bool_text<&Settings::strict_requests>},
    SettingSpec{"server.log_format", "LATEBIND_LOG_FORMAT", "--log-format", "text|json",
                "Format of the log, which has one line per request and the program's messages.", false,
                assign_log_format, log_format_text},
    SettingSpec{"server.log_level", "LATEBIND_LOG_LEVEL", "--log-level", "debug|info|warning|error",
                "Least severe level that is logged. info includes one line per request; debug also includes what "
                "Latebind and the vendors' libraries do. SIGHUP reads it again.",
                false, assign_log_level, log_level_text},
    SettingSpec{"server.otlp_endpoint", "LATEBIND_OTLP_ENDPOINT", "--otlp-endpoint", "URL",
                "Sends a trace of each request to this address, such as http://127.0.0.1:4318, as OTLP over HTTP with "
                "JSON. Needs libcurl. Empty: no traces.",
                true, assign_text<&Settings::otlp_endpoint>, text_text<&Settings::otlp_endpoint>},
    SettingSpec{"server.ready_file", "LATEBIND_READY_FILE", "--ready-file", "FILE",
                "File that receives the addresses, one per line, once every model is loaded and warm. It is removed at "
                "shutdown. Empty: no file.",
                true, assign_text<&Settings::ready_file>, text_text<&Settings::ready_file>},
    SettingSpec{.key = "server.quiet",
                .environment = "LATEBIND_QUIET",
                .flag = "--quiet",
                .value = kTruth,
                .help = "Prints only errors, warnings and the log of requests.",
                .assign = assign_bool<&Settings::quiet>,
                .text = bool_text<&Settings::quiet>,
                .letter = 'q'},
    SettingSpec{
        kPluginSettings, "", "", "VALUE",
        "plugin.NAME.KEY sets KEY of the plug-in NAME; `latebind backends` lists the settings that a plug-in has. "
        "On the command line: --plugin NAME.KEY=VALUE.",
        true, assign_of_plugin, of_backend_text},
    SettingSpec{kProperties, "", "", "VALUE",
                "property.KEY passes the property KEY to the vendor unchanged, after all other properties. On the "
                "command line: --property KEY=VALUE.",
                true, assign_property, property_text},
};

}  // namespace

std::vector<std::string_view> SettingSpec::known_words() const {
  if (words != nullptr) return words();
  std::vector<std::string_view> known;
  for (const core::BackendSetting& of_backend : backend_settings())
    if (of_backend.key == key) known.assign(of_backend.words.begin(), of_backend.words.end());
  if (value.find('|') == std::string_view::npos) return known;
  // "N|auto" has one word.
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view word = core::take_until(rest, '|');
    if (core::ascii_lowered(word) == word && word.find_first_of(":[=,.") == std::string_view::npos)
      known.push_back(word);
  }
  return known;
}

std::span<const SettingSpec> settings_schema() {
  // Never destroyed: code that runs at exit may still use it.
  static const auto& schema = *new std::vector<SettingSpec>([] {
    std::vector<SettingSpec> specs(std::begin(kFirst), std::end(kFirst));
    for (const core::BackendSetting& of_backend : backend_settings()) {
      specs.push_back({of_backend.key, of_backend.environment, of_backend.flag, of_backend.value, of_backend.help, true,
                       assign_of_backend, of_backend_text});
    }
    specs.insert(specs.end(), std::begin(kAfterBackends), std::end(kAfterBackends));
    return specs;
  }());
  return schema;
}

const SettingSpec* find_setting_or_family(std::string_view key) {
  const auto schema = settings_schema();
  const auto family = std::ranges::find(schema, key, &SettingSpec::key);
  return family != schema.end() ? &*family : find_setting(key);
}

const SettingSpec* find_setting(std::string_view key) {
  for (const SettingSpec& spec : settings_schema()) {
    if (spec.is_family() ? key.starts_with(spec.key) && key != spec.key : spec.key == key) return &spec;
  }
  return nullptr;
}

Result<std::vector<core::Precision>> parse_precisions(std::string_view text) {
  std::vector<core::Precision> precisions;
  for (const std::string_view word : list_items(text)) {
    LB_ASSIGN_OR_RETURN(const auto precision, parse_word<core::Precision>(word));
    if (std::ranges::find(precisions, precision) != precisions.end()) {
      return Status(StatusCode::kInvalidArgument, fmt::format("names {} twice", word_of(precision)));
    }
    precisions.push_back(precision);
  }
  return precisions;
}

Result<std::filesystem::path> compile_cache_folder(const Settings& settings) {
  if (!settings.cache_folder.empty()) return platform::path_from_utf8(settings.cache_folder);
  LB_ASSIGN_OR_RETURN(const auto folder, platform::cache_folder());
  return folder / "compiled";
}

}  // namespace latebind::app
