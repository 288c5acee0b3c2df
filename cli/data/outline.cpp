#include "cli/data/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/text/one_line.h"
#include "core/text/quote.h"

namespace latebind::cli {
namespace {

using core::Json;

// Longer lists have one line for each item.
constexpr std::size_t kListWidthMax = 90;
constexpr std::size_t kTextBytesMax = 4096;

std::string name_of(std::string_view key) {
  std::string name = core::one_line(key);
  std::ranges::replace(name, '_', ' ');
  return name;
}

bool has_content(const Json& value) {
  return !value.is_null() && !(value.is_string() && value.text().empty()) && !(value.is_structured() && value.empty());
}

// Returns the text on one line, in quotes if it begins or ends with a space, which counts in a prompt.
std::string words_of(std::string_view text) {
  return text.starts_with(' ') || text.ends_with(' ') ? core::quoted(text, kTextBytesMax) : core::one_line(text);
}

// Returns a value as a part of a line.
std::string phrase(const Json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return words_of(value.text());
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const Json& item : value)
    text += (text.empty() ? "" : ", ") + phrase(item);
  for (const auto& [key, item] : value.members()) {
    if (has_content(item)) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(key), phrase(item));
  }
  return text;
}

void add_lines(std::string& text, const Json& object, std::size_t indentation) {
  std::size_t width = 0;
  for (const auto& [key, value] : object.members()) {
    if (has_content(value) && !value.is_object()) width = std::max(width, name_of(key).size());
  }
  bool was_object = false;
  for (const auto& [key, value] : object.members()) {
    if (!has_content(value)) continue;
    if (indentation == 0 && !text.empty() && (value.is_object() || was_object)) text += "\n";
    was_object = value.is_object();
    std::string name = name_of(key);
    if (was_object) {
      text += fmt::format("{:{}}{}\n", "", indentation, name);
      add_lines(text, value, indentation + 2);
      continue;
    }
    const auto add_line = [&](const Json& words) {
      text += fmt::format("{:{}}{:{}}  {}\n", "", indentation, name, width, phrase(words));
      name.clear();
    };
    if (value.is_array() && phrase(value).size() > kListWidthMax) {
      std::ranges::for_each(value, add_line);
    } else {
      add_line(value);
    }
  }
}

}  // namespace

std::string outline(const Json& object) {
  std::string text;
  add_lines(text, object, 0);
  return text;
}

}  // namespace latebind::cli
