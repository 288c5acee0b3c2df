#include "cli/data/json_field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <vector>

#include "core/json/read.h"
#include "core/text/quote.h"

namespace latebind::cli {
namespace {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kDepthMax = 1024;
constexpr std::size_t kNamesShown = 8;
constexpr std::size_t kNameBytesShown = 64;

// The number of the last top-level member with this key, as it stands in the line, which is a JSON object.
std::string_view written_number(std::string_view line, std::string_view key) {
  const std::string quoted_key = Json(key).dump();
  std::string_view found;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '{' || line[i] == '[') ++depth;
    if (line[i] == '}' || line[i] == ']') --depth;
    if (line[i] != '"') continue;
    const std::size_t begin = i++;
    while (line[i] != '"')
      i += line[i] == '\\' ? 2 : 1;
    if (depth != 1 || line.substr(begin, i + 1 - begin) != quoted_key) continue;
    std::size_t value = line.find_first_not_of(" \t\r\n", i + 1);
    if (line[value] != ':') continue;
    value = line.find_first_not_of(" \t\r\n", value + 1);
    found = line.substr(value, line.find_first_not_of("+-.eE0123456789", value) - value);
  }
  return found;
}

std::string id_of(std::string_view line, const Json& record, std::string_view field) {
  const Json* const id = field.empty() ? nullptr : record.find(field);
  if (id == nullptr) return {};
  if (id->is_string() || id->is_number_integer()) return id->dump();
  const std::string_view written = id->is_number() ? written_number(line, field) : std::string_view();
  return std::string(core::json_or_null(written).is_null() ? std::string_view() : written);
}

std::string fields_of(const Json& record) {
  std::vector<std::string> names;
  for (const auto& [name, value] : record.members()) {
    if (names.size() < kNamesShown) names.push_back(core::quoted(name, kNameBytesShown));
  }
  return names.empty() ? "" : fmt::format(" among {}", fmt::join(names, ", "));
}

}  // namespace

Result<TextField> text_field(std::string_view line, std::string_view field, std::string_view id_field) {
  const auto wrong = [](std::string what) { return Status(StatusCode::kInvalidArgument, std::move(what)); };
  Json record;
  const core::JsonLimits limits{.bytes_max = line.size(),
                                .depth_max = kDepthMax,
                                .repeated_keys = core::RepeatedKeys::kLast,
                                .big_numbers = core::BigNumbers::kAny};
  if (auto mistake = core::read_json(line, limits, record)) return wrong(*std::move(mistake));
  if (!record.is_object()) return wrong(fmt::format("expected a JSON object, not {}", kind_of(record)));
  const Json* const text = record.find(field);
  if (text == nullptr) {
    return wrong(fmt::format("the object has no field '{}'{}; --text-field names the field of the text", field,
                             fields_of(record)));
  }
  if (!text->is_string()) return wrong(fmt::format("field '{}' is {}, not a string", field, kind_of(*text)));
  return TextField{.text = text->text(), .id = id_of(line, record, id_field)};
}

}  // namespace latebind::cli
