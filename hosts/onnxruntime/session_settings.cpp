#include "hosts/onnxruntime/session_settings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/platform/environment.h"
#include "core/text/option_text.h"

namespace latebind::provider {
namespace {

constexpr std::string_view kPrefix = "ep.latebind.";
constexpr std::string_view kNestedBackend = "onnxruntime";
constexpr std::array kKinds{LB_DEVICE_NPU, LB_DEVICE_GPU, LB_DEVICE_CPU};

bool truth(const std::string& key, std::string_view text) {
  if (text.empty()) return false;
  if (const auto found = core::parse_truth(text)) return *found;
  throw Failure(abi::kInvalidArgument,
                "Latebind: provider option " + key + " must be 0 or 1, not '" + std::string(text.substr(0, 64)) + "'");
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view item : core::list_items(text))
    if (!item.empty()) words.emplace_back(item);
  return words;
}

std::string known_devices(const Devices& found) {
  std::string known;
  for (const Device& device : found.devices)
    known += (known.empty() ? "" : ", ") + device.id;
  return known.empty() ? "none" : known;
}

void set_option(SessionSettings& settings, const std::string& key, const std::string& value) {
  if (key == "nested") {
    settings.nested = truth(key, value);
  } else if (key == "targets") {
    settings.targets = words_of(value);
  } else if (key == "device") {
    settings.device = value;
  } else {
    settings.options.set(key, value);
    if (key == "emulate") settings.emulate = core::parse_truth(value).value_or(false);
  }
  if (!settings.options.status().ok()) throw failure_of("Latebind: provider option " + key, settings.options.status());
}

// The variables that name ONNX Runtime's library, as in backends/onnxruntime/find.cpp.
bool is_named_in_environment() {
  constexpr std::array kVariables{"LATEBIND_ONNXRUNTIME_LIBRARY", "ORT_LIB_PATH", "ORT_DYLIB_PATH"};
  return std::ranges::any_of(
      kVariables, [](const char* name) { return !platform::trusted_environment(name).value_or("").empty(); });
}

}  // namespace

SessionSettings read_session_settings(const Host& host, const abi::SessionOptions* options) {
  abi::KeyValuePairs* raw = nullptr;
  host.check(host->GetSessionOptionsConfigEntries(options, &raw));
  Host::need(raw, "settings of a session");
  const Pairs entries(host, raw);
  SessionSettings settings;
  for (const auto& [key, value] : entries.entries()) {
    if (key.starts_with(kPrefix)) set_option(settings, std::string(key.substr(kPrefix.size())), std::string(value));
  }
  settings.writes_contexts = value_of(host, entries.get(), "ep.context_enable") == "1";
  settings.embeds_contexts = value_of(host, entries.get(), "ep.context_embed_mode") == "1";
  settings.context_file = value_of(host, entries.get(), "ep.context_file_path");
  for (const char* key : {"ep.share_ep_contexts", "ep.stop_share_ep_contexts"}) {
    if (!settings.writes_contexts || value_of(host, entries.get(), key) != "1") continue;
    throw Failure(abi::kNotImplemented,
                  std::string("Latebind: ") + key +
                      "=1 would put the compiled models of several sessions into one file, which Latebind does not "
                      "support: each compiled model has its own bundle. Leave it out");
  }
  return settings;
}

bool is_set(const Options& options, const char* key) {
  auto value = LB_INIT(lb_option_value);
  return lb_options_get(options.get(), key, &value) == LB_OK && value.is_set != 0;
}

Runtime make_runtime(const Host& host, const Options& options, NestedLibrary nested) {
  constexpr const char* kKey = "onnxruntime.library";
  Options whole = options;
  // Only a given path is tried, so that no second ONNX Runtime is opened in this process.
  if (nested == NestedLibrary::kNone) whole.set(kKey, "/left-out-within-onnxruntime");
  if (nested != NestedLibrary::kNone && !is_set(whole, kKey)) {
    const std::string own = host.library_file();
    std::string place;
    if (own.empty()) {
      if (!is_named_in_environment()) place = host.library_folder();
    } else if (nested == NestedLibrary::kHosts) {
      place = own;
    }
    if (!place.empty()) whole.set(kKey, place);
  }
  auto runtime = Runtime::create(whole);
  if (!runtime.ok()) throw failure_of("Latebind cannot start", runtime.status());
  return *std::move(runtime);
}

Result<Devices> devices_of(const Runtime& runtime, bool absent) {
  auto found = runtime.devices(absent);
  if (!found.ok()) return found;
  std::erase_if(found->devices, [](const Device& device) { return device.metadata.contains("GraphsOnly"); });
  return found;
}

std::string placement_for(const Devices& found, const SessionSettings& settings, std::int32_t kind) {
  std::string reasons;
  for (const latebind::Backend& backend : found.backends)
    if (!backend.available) reasons += "; " + backend.name + ": " + backend.reason;
  std::string placement;
  const auto add = [&](std::string_view device) {
    if (!placement.empty()) placement += ',';
    placement += device;
  };
  const auto add_kind = [&](std::int32_t wanted) {
    for (const Device& device : found.devices)
      if (device.kind == wanted && (settings.nested || device.backend != kNestedBackend)) add(device.id);
  };
  const auto add_all = [&](std::int32_t first) {
    add_kind(first);
    for (const std::int32_t other : kKinds)
      if (other != first) add_kind(other);
  };
  if (settings.device.empty()) add_all(kind);
  for (const std::string& word : words_of(settings.device)) {
    if (word == "auto") {
      add_all(LB_DEVICE_NPU);
    } else if (word == "npu" || word == "gpu" || word == "cpu") {
      add_kind(word == "npu" ? LB_DEVICE_NPU : word == "gpu" ? LB_DEVICE_GPU : LB_DEVICE_CPU);
    } else if (!settings.nested && word.starts_with(kNestedBackend)) {
      throw Failure(abi::kInvalidArgument,
                    "Latebind: device " + word +
                        " would be ONNX Runtime inside ONNX Runtime; set the provider option nested=1 to allow that");
    } else {
      const bool is_exact = word.find(':') != std::string::npos;
      if (is_exact && !settings.emulate && std::ranges::find(found.devices, word, &Device::id) == found.devices.end()) {
        throw Failure(abi::kInvalidArgument,
                      "Latebind: there is no device " + word + " here; there is " + known_devices(found) + reasons);
      }
      const std::size_t before = placement.size();
      for (const Device& device : found.devices)
        if (device.backend == word) add(device.id);
      if (placement.size() == before) add(word);  // an unknown word is refused with the nearest known one
    }
  }
  if (!placement.empty()) return placement;
  throw Failure(abi::kEpFail, "Latebind: no device for '" + settings.device + "'" + reasons);
}

}  // namespace latebind::provider
