#include "backends/openvino/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/text/quote.h"

namespace latebind::openvino {
namespace {

using core::Precision;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kDeviceLengthMax = 64;
constexpr std::size_t kKeyLengthMax = 128;
constexpr std::size_t kValueLengthMax = std::size_t{1} << 16;

std::string_view without_trailing_nul(std::string_view text) {
  while (text.ends_with('\0'))
    text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

void set(Properties& properties, std::string key, std::string value) {
  const auto found = std::ranges::find(properties, key, &Properties::value_type::first);
  if (found != properties.end()) properties.erase(found);
  properties.emplace_back(std::move(key), std::move(value));
}

Status add_user_properties(Properties& properties, const core::CompileOptions& options) {
  for (const auto& [raw_key, raw_value] : options.properties) {
    const auto key = without_trailing_nul(raw_key);
    const auto value = without_trailing_nul(raw_value);
    if (key.empty() || key.size() > kKeyLengthMax || !is_word(key)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} is not the name of an OpenVINO property", core::quoted(key, kDeviceLengthMax)));
    }
    if (value.size() > kValueLengthMax || value.find('\0') != std::string_view::npos) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the value of property {} is longer than {} bytes or contains a zero byte", key,
                                kValueLengthMax));
    }
    set(properties, std::string(key), std::string(value));
  }
  if (properties.size() > kPropertiesMax) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} properties are above the limit of {}", properties.size(), kPropertiesMax));
  }
  return {};
}

// The precisions that the vendor supports.
constexpr std::array kPrecisions{Precision::kF32, Precision::kBF16, Precision::kF16};

std::optional<Precision> precision_of(std::string_view word) {
  const auto* const found = std::ranges::find(kPrecisions, word, core::word_of<Precision>);
  return found != kPrecisions.end() ? std::optional(*found) : std::nullopt;
}

std::optional<unsigned> number_in(const Result<std::string>& text) {
  unsigned value = 0;
  if (!text.ok() || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return {};
  return std::min(value, core::kCountMax);
}

// "" if the property is not set.
std::string_view value_of(const Properties& properties, std::string_view key) {
  const auto found = std::ranges::find(properties, key, &Properties::value_type::first);
  return found != properties.end() ? std::string_view(found->second) : std::string_view();
}

constexpr const char* kThreads = "INFERENCE_NUM_THREADS";
constexpr const char* kStreams = "NUM_STREAMS";
constexpr const char* kDistribution = "MODEL_DISTRIBUTION_POLICY";

// The properties for which a model that is computed by one thread needs a stream of the vendor's.
constexpr std::array kStreamProperties{kStreams,
                                       kDistribution,
                                       "AFFINITY",
                                       "ENABLE_CPU_PINNING",
                                       "ENABLE_CPU_RESERVATION",
                                       "ENABLE_HYPER_THREADING",
                                       "SCHEDULING_CORE_TYPE"};

bool sets_streams(const core::CompileOptions& options) {
  return std::ranges::any_of(options.properties, [](const auto& property) {
    return std::ranges::find(kStreamProperties, without_trailing_nul(property.first)) != kStreamProperties.end();
  });
}

}  // namespace

std::string device_base(std::string_view device) {
  return std::string(device.substr(0, device.find('.')));
}

Result<std::string> checked_device(std::string_view device) {
  const auto name = without_trailing_nul(device);
  if (name.empty() || name.size() > kDeviceLengthMax || !is_word(name)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} is not the name of an OpenVINO device, such as CPU or GPU.1",
                              core::quoted(name, kDeviceLengthMax)));
  }
  return std::string(name);
}

// The number of cache entries in which a stream keeps what it prepared for the shapes that it ran, about 4 entries a
// shape. With the vendor's default of 5,000, memory grows for hours if lengths are mixed, and with 64 for minutes. With
// four shapes, long batches of such a workload are not slower, because the expensive parts are in a second cache of the
// vendor; single runs may be, and get more entries. With no entries, memory is not shared at all. 100 documents for a
// query take a dozen shapes, which the next query needs again: with four shapes it takes 5 % longer.
constexpr const char* kCacheCapacity = "CPU_RUNTIME_CACHE_CAPACITY";
constexpr const char* kCapacityForThroughput = "16";
constexpr const char* kCapacityForRecurring = "128";
constexpr const char* kCapacityForLatency = "96";

unsigned default_streams(unsigned threads) {
  if (threads <= 8) return std::max(threads, 1U);
  return std::clamp(threads / 2, 8U, 16U);
}

Result<Properties> properties_for(std::string_view device, const core::CompileOptions& options, unsigned processors) {
  LB_RETURN_IF_ERROR(core::check_counts(options));
  // The vendor would report an unknown word only as a bad value of a property.
  if (std::ranges::find(kPrecisions, options.precision) == kPrecisions.end()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("openvino:{} computes in f32, bf16 or f16, but {} was requested", device,
                              core::word_of(options.precision)));
  }
  Properties properties;
  const bool throughput = options.hint == core::PerformanceHint::kThroughput;
  set(properties, "PERFORMANCE_HINT", throughput ? "THROUGHPUT" : "LATENCY");
  set(properties, "INFERENCE_PRECISION_HINT", std::string(core::word_of(options.precision)));
  if (device_base(device) == "CPU") {
    const unsigned threads = options.threads != 0 ? options.threads : std::max(processors, 1U);
    unsigned streams = 1;
    if (throughput) streams = options.requests != 0 ? std::min(options.requests, threads) : default_streams(threads);
    set(properties, kThreads, std::to_string(threads));
    set(properties, kStreams, std::to_string(streams));
    set(properties, kCacheCapacity,
        options.shapes_recur ? kCapacityForRecurring
        : throughput         ? kCapacityForThroughput
                             : kCapacityForLatency);
  } else if (options.requests != 0) {
    set(properties, "PERFORMANCE_HINT_NUM_REQUESTS", std::to_string(options.requests));
  }
  LB_RETURN_IF_ERROR(add_user_properties(properties, options));
  if (value_of(properties, kStreams) == "1" && value_of(properties, kThreads) == "1" && !sets_streams(options)) {
    set(properties, kStreams, "0");
  }
  return properties;
}

std::size_t kept_shapes(std::string_view device, const Properties& properties) {
  constexpr unsigned kEntriesOfShape = 4;
  const std::string_view streams = value_of(properties, kStreams);
  if (device_base(device) != "CPU" || (streams != "0" && streams != "1")) return 0;
  return number_in(std::string(value_of(properties, kCacheCapacity))).value_or(0) / kEntriesOfShape;
}

Result<std::string> compiled_property(const Library& library, const abi::CompiledModel* compiled, const char* key) {
  char* value = nullptr;
  if (const auto code = library.api.ov_compiled_model_get_property(compiled, key, &value); code != abi::kOk) {
    return library.error(StatusCode::kDeviceFailed, fmt::format("the compiled model does not report its {}", key),
                         code);
  }
  std::string text(without_trailing_nul(value != nullptr ? value : ""));
  library.api.ov_free(value);
  return text;
}

Result<Active> read_back(const Library& library, const abi::CompiledModel* compiled, std::string_view device,
                         Precision wanted) {
  Active active;
  LB_ASSIGN_OR_RETURN(const std::string word, compiled_property(library, compiled, "INFERENCE_PRECISION_HINT"));
  const auto precision = precision_of(word);
  if (precision != wanted) {
    return Status(
        StatusCode::kUnsupported,
        fmt::format("openvino:{} does not compute in {} and chose {} instead: choose a precision that it supports",
                    device, core::word_of(wanted), word.empty() ? "one that it does not name" : word));
  }
  active.precision = wanted;
  const auto threads = number_in(compiled_property(library, compiled, kThreads));
  const auto streams = number_in(compiled_property(library, compiled, kStreams));
  active.optimal_requests =
      number_in(compiled_property(library, compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS")).value_or(0);
  active.threads = threads.value_or(0);
  if (device_base(device) != "CPU") return active;
  active.has_one_stream = streams == 0U || streams == 1U;
  // Without streams, the vendor reports no threads.
  if (streams == 0U) active.threads = 1;
  const auto distribution = compiled_property(library, compiled, kDistribution);
  const bool is_divided = distribution.ok() && distribution->find("TENSOR_PARALLEL") != std::string::npos;
  active.loses_errors = (streams == 1U && threads == 1U) || is_divided;
  return active;
}

}  // namespace latebind::openvino
