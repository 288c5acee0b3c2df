// Fuzzes templates: outside bytes as a template, rendered with a conversation. Rendering must end
// within the limits and give UTF-8.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "core/json/parse.h"
#include "core/template/template.h"
#include "core/text/utf8.h"

namespace {

namespace core = latebind::core;
namespace templates = latebind::templates;

constexpr std::string_view kVariables = R"({
  "messages": [{"role": "system", "content": "s"}, {"role": "query", "content": "what? \u00e9"},
               {"role": "document", "content": [{"type": "text", "text": "that"}]},
               {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}],
  "tools": null, "n": 7, "f": 2.5, "text": "Hello, World", "list": [3, 1, 2], "nested": {"a": {"b": [1, {"c": "d"}]}},
  "add_generation_prompt": true, "bos_token": "<s>", "eos_token": "</s>"})";

const templates::Variables& variables() {
  static const templates::Variables kAll = [] {
    core::Json json;
    if (core::read_json(kVariables, {.bytes_max = kVariables.size()}, json)) std::abort();
    templates::Variables all;
    for (const auto& [name, value] : json.members())
      all.emplace_back(name, templates::Value::of(value));
    return all;
  }();
  return kAll;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  const templates::Limits limits{.depth = 100, .steps = 20'000, .output_bytes = std::size_t{1} << 18};
  const auto parsed = templates::Template::parse(source, limits);
  if (!parsed.ok()) return 0;
  const auto text = parsed->render(variables(), [] { return std::tm{}; });
  if (text.ok() && (core::find_invalid_utf8(*text) || text->size() > limits.output_bytes)) std::abort();
  return 0;
}
