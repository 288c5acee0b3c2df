#include "core/json_text.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "core/platform/files/folders.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using nlohmann::json;

Status invalid(std::string_view name, std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name, what));
}

// Nesting is limited before the parser sees the text, which also limits the parser's memory.
bool deeper_than(std::string_view text, std::size_t depth_max) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > depth_max) return true;
    } else if ((c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::string_view kind_of(const json& value) {
  if (value.is_number_integer()) return "an integer";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a string";
  if (value.is_boolean()) return "true or false";
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return "null";
}

}  // namespace

Result<json> parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  if (text.size() > limits.bytes_max) {
    return invalid(name, fmt::format("{} bytes of JSON are above the limit of {}", text.size(), limits.bytes_max));
  }
  if (is_git_lfs_pointer(text)) return invalid(name, kGitLfsPointer);
  if (const auto at = find_zero_byte(text))
    return invalid(name, fmt::format("not JSON: a zero byte at byte {}", *at + 1));
  if (deeper_than(text, limits.depth_max)) {
    return invalid(name, fmt::format("JSON nested deeper than {} levels", limits.depth_max));
  }
  // The keys of each open object.
  std::vector<std::set<std::string, std::less<>>> keys;
  std::string duplicate;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
        keys.emplace_back();
        break;
      case json::parse_event_t::object_end:
        if (!keys.empty()) keys.pop_back();
        break;
      case json::parse_event_t::key: {
        const auto& key = parsed.get_ref<const std::string&>();
        if (!keys.empty() && !keys.back().insert(key).second && duplicate.empty()) duplicate = key;
        break;
      }
      default:
        break;
    }
    return true;
  };
  json document;
  try {
    document = json::parse(text, watch);
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 7: syntax error while parsing … - what it is"
    constexpr std::string_view kBefore = "parse error";
    std::string_view what = error.what();
    if (const auto bracket = what.find("] "); bracket != std::string_view::npos) what.remove_prefix(bracket + 2);
    const auto colon = what.find(": ");
    const auto dash = what.find(" - ");
    if (!what.starts_with(kBefore) || colon == std::string_view::npos || dash == std::string_view::npos)
      return invalid(name, fmt::format("not JSON: {}", printable(what)));
    const std::string_view where = what.substr(kBefore.size(), colon - kBefore.size());
    return invalid(name, fmt::format("not JSON{}: {}", where, printable(what.substr(dash + 3))));
  }
  if (!duplicate.empty()) return invalid(name, fmt::format("the key '{}' occurs twice", printable(duplicate)));
  if (!document.is_structured()) {
    return invalid(name, fmt::format("expected an object or an array, found {}", kind_of(document)));
  }
  return document;
}

std::string printable_json(const json& value) {
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

Result<std::optional<std::size_t>> read_size(const json& object, const char* key, std::size_t least, std::size_t most,
                                             std::string_view name) {
  const json* value = find_member(object, key);
  if (value == nullptr) return std::optional<std::size_t>();
  if (!value->is_number_integer()) {
    return invalid(name, fmt::format("'{}' must be a whole number, found {}", key, kind_of(*value)));
  }
  const bool negative = !value->is_number_unsigned() && value->get<std::int64_t>() < 0;
  if (negative || value->get<std::uint64_t>() < least || value->get<std::uint64_t>() > most) {
    return invalid(name, fmt::format("'{}' is {}, must be between {} and {}", key, value->dump(), least, most));
  }
  return std::optional<std::size_t>(value->get<std::size_t>());
}

const json* find_member(const json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool is_text(const json& value, std::string_view text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}

Result<bool> read_bool(const json& object, const char* key, bool otherwise, std::string_view name) {
  const json* value = find_member(object, key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    return invalid(name, fmt::format("'{}' must be true or false, found {}", key, kind_of(*value)));
  }
  return value->get<bool>();
}

Result<std::string> read_text(const json& object, const char* key, std::string_view otherwise, std::string_view name) {
  const json* value = find_member(object, key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) return invalid(name, fmt::format("'{}' must be a string, found {}", key, kind_of(*value)));
  return value->get<std::string>();
}

}  // namespace latebind::core
