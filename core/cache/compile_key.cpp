#include "core/cache/compile_key.h"

#include <algorithm>
#include <span>

#include "core/json/value.h"
#include "core/platform/digest.h"
#include "core/platform/system_info.h"

namespace latebind::core {
namespace {

// Increase it whenever a backend makes other blobs from the same options.
constexpr int kFormat = 2;

// Bytes that are not UTF-8 are written as numbers, because replacing them could make two texts equal.
Json exact(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
  if (plain) return std::string(text);
  Json bytes = Json::array();
  for (const char c : text)
    bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

Json exact(const std::map<std::string, std::string>& texts) {
  Json pairs = Json::array();
  for (const auto& [key, value] : texts)
    pairs.push_back(Json::array({exact(key), exact(value)}));
  return pairs;
}

}  // namespace

CompileKey make_compile_key(std::string_view model_digest, std::string_view model_name, const Device& device,
                            const CompileOptions& options) {
  Json shapes = Json::array();
  for (const Shape& shape : options.input_shapes)
    shapes.push_back(std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end()));
  const Json key{{"format", kFormat},
                 {"model", exact(model_digest)},
                 {"backend", exact(device.backend)},
                 {"device", exact(device.name)},
                 {"device_full_name", exact(device.full_name)},
                 {"device_metadata", exact(device.facts())},
                 {"runtime_version", exact(device.runtime_version)},
                 {"platform", platform::platform_name()},
                 {"cpu_features", platform::cpu_features()},
                 {"processors", platform::usable_processors()},
                 {"precision", word_of(options.precision)},
                 {"hint", word_of(options.hint)},
                 {"threads", options.threads},
                 {"requests", options.requests},
                 {"input_shapes", std::move(shapes)},
                 {"leave_any", options.host_nodes == HostNodes::kAny},
                 {"emulate", options.emulate},
                 {"properties", exact(options.properties)}};
  CompileKey result;
  result.text = key.dump();
  result.digest = platform::sha256_hex(std::as_bytes(std::span(result.text)));
  result.model = std::string(model_name);
  result.device = device.id();
  result.runtime_version = device.runtime_version;
  result.precision = options.precision;
  return result;
}

}  // namespace latebind::core
