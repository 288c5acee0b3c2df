// Fuzzes the reader of adapter_config.json: outside bytes as a file, then its rank, scale and target for the names of
// modules.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/json/parse.h"
#include "embedding/weights/adapters/adapter_config.h"

namespace {

namespace core = latebind::core;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view kModules[] = {
    "encoder.layer.0.attention.self.query",
    "encoder.layer.11.output.dense",
    "layers.3.mlp.down_proj",
    "embeddings.word_embeddings",
    "query",
    "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.b",
    "",
};

void ask(const latebind::embedding::AdapterConfig& adapter, std::string_view module) {
  if (const auto rank = adapter.rank_of(module); rank.ok()) require(*rank > 0);
  if (const auto scale = adapter.scale_of(module); scale.ok()) require(std::isfinite(*scale) && *scale >= 0);
  const auto first = adapter.is_target(module);
  const auto again = adapter.is_target(module);
  require(first.ok() == again.ok() && (!first.ok() || *first == *again));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  core::Json json;
  if (core::read_json(text, {.bytes_max = std::size_t{1} << 20}, json) || !json.is_object()) return 0;
  const auto adapter = latebind::embedding::read_adapter_config(json, "adapter_config.json");
  if (!adapter.ok()) {
    const std::string message = adapter.status().to_string();
    require(message.find('\n') == std::string::npos && message.find("adapter_config.json") != std::string::npos);
    return 0;
  }
  for (const std::string_view module : kModules)
    ask(*adapter, module);
  return 0;
}
