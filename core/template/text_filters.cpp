// Filters that return a text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/template/filters.h"
#include "core/template/json_text.h"
#include "core/template/python_text.h"
#include "core/template/text_methods.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

constexpr std::size_t kIndentMax = 1024;

// Returns the text of a filter's value.
Result<std::string> filtered_text(std::string_view filter, const Value& value) {
  if (value.is(Kind::kMarkup)) {
    return unsupported(fmt::format("the filter '{}' of a text that is marked as safe is not supported", filter));
  }
  return text_of(value);
}

Result<Value> filtered_in_case(Run& run, std::string_view filter, const Value& value, const Arguments& given,
                               Case wanted) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(filter, given, {}));
  LB_ASSIGN_OR_RETURN(const std::string text, filtered_text(filter, value));
  return text_in_case(run, text, wanted);
}

Result<Value> upper_filter(Run& run, const Value& value, const Arguments& given) {
  return filtered_in_case(run, "upper", value, given, Case::kUpper);
}

Result<Value> lower_filter(Run& run, const Value& value, const Arguments& given) {
  return filtered_in_case(run, "lower", value, given, Case::kLower);
}

Result<Value> capitalize_filter(Run& run, const Value& value, const Arguments& given) {
  return filtered_in_case(run, "capitalize", value, given, Case::kCapitalized);
}

// Capitalizes each word. White space, hyphens and opening brackets separate words.
Result<Value> title_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("title", given, {}));
  LB_ASSIGN_OR_RETURN(const std::string text, filtered_text("title", value));
  LB_RETURN_IF_ERROR(run.spend_on_characters(text.size()));
  std::string all;
  std::string word;
  const auto put_word = [&]() -> Status {
    LB_ASSIGN_OR_RETURN(const std::string changed, in_case(word, Case::kCapitalized));
    all += changed;
    word.clear();
    return {};
  };
  for (const std::string_view character : CodePoints(text)) {
    constexpr std::string_view kBefore = "-({[<";
    const bool separates = strip(character).empty() || kBefore.find(character) != std::string_view::npos;
    if (!separates) {
      word += character;
      continue;
    }
    LB_RETURN_IF_ERROR(put_word());
    all += character;
  }
  LB_RETURN_IF_ERROR(put_word());
  return run.text(std::move(all));
}

Result<Value> trim_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("trim", given, {"chars"}));
  LB_ASSIGN_OR_RETURN(const std::string text, filtered_text("trim", value));
  std::optional<std::string_view> set;
  if (bound[0].is_text()) set = bound[0].as_text();
  return stripped_text(run, text, Ends::kBoth, set);
}

Result<Value> replaced_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("replace", given, {"old", "new", "count"}));
  LB_ASSIGN_OR_RETURN(const std::string text, filtered_text("replace", value));
  LB_ASSIGN_OR_RETURN(const std::string old_part, filtered_text("replace", bound[0]));
  LB_ASSIGN_OR_RETURN(const std::string new_part, filtered_text("replace", bound[1]));
  std::size_t most = std::numeric_limits<std::size_t>::max();
  if (bound[2].is_integer() && bound[2].as_integer() >= 0) most = static_cast<std::size_t>(bound[2].as_integer());
  return replaced_text(run, text, {old_part, new_part}, most);
}

Result<Value> indent_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("indent", given, {"width", "first", "blank"}));
  LB_ASSIGN_OR_RETURN(const std::string text, filtered_text("indent", value));
  std::string space = "    ";
  if (bound[0].is_text()) {
    space = bound[0].as_text();
  } else if (bound[0].is_integer()) {
    const std::int64_t width = bound[0].as_integer();
    if (width > static_cast<std::int64_t>(kIndentMax))
      return unsupported("an indentation of more than 1024 is not supported");
    space.assign(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
  }
  LB_RETURN_IF_ERROR(run.spend_on_characters(text.size()));
  LB_RETURN_IF_ERROR(run.check_size((text.size() + 1) * (space.size() + 1)));
  std::string indented = is_true(bound[1]) ? space : "";
  const std::string ended = text + "\n";
  const auto lines = split_lines(ended);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) indented += "\n";
    if (i > 0 && (is_true(bound[2]) || !lines[i].empty())) indented += space;
    indented += lines[i];
  }
  return run.text(std::move(indented));
}

Result<Value> string_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("string", given, {}));
  if (value.is(Kind::kMarkup)) return value;
  LB_ASSIGN_OR_RETURN(std::string text, text_of(value));
  return run.text(std::move(text));
}

Result<Value> safe_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("safe", given, {}));
  LB_ASSIGN_OR_RETURN(std::string text, text_of(value));
  LB_RETURN_IF_ERROR(run.check_size(text.size()));
  return Value::markup(std::move(text));
}

Result<Value> escape_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("escape", given, {}));
  if (value.is(Kind::kMarkup)) return value;
  LB_ASSIGN_OR_RETURN(const std::string text, text_of(value));
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&#34;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  LB_RETURN_IF_ERROR(run.check_size(escaped.size()));
  return Value::markup(std::move(escaped));
}

Result<Value> tojson_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("tojson", given, {"ensure_ascii", "indent", "separators", "sort_keys"}));
  JsonForm form{.ascii = is_true(bound[0]), .sorted = is_true(bound[3])};
  if (bound[1].is_integer()) {
    const std::int64_t width = bound[1].as_integer();
    if (width > static_cast<std::int64_t>(kIndentMax))
      return unsupported("an indentation of more than 1024 is not supported");
    form.indent = std::string(static_cast<std::size_t>(std::max<std::int64_t>(width, 0)), ' ');
  } else if (bound[1].is_text()) {
    form.indent = bound[1].as_text();
  }
  if (form.indent) form.between_items = ",";
  if (bound[2].is_sequence()) {
    const Items& separators = bound[2].as_items();
    if (separators.size() != 2 || !separators[0].is_text() || !separators[1].is_text()) {
      return invalid("'separators' of the filter 'tojson' are not two texts");
    }
    form.between_items = separators[0].as_text();
    form.after_key = separators[1].as_text();
  }
  LB_ASSIGN_OR_RETURN(std::string text, json_text(run, value, form));
  return run.text(std::move(text));
}

constexpr std::array<Function, 12> kTextFilters{{{"upper", upper_filter},
                                                 {"lower", lower_filter},
                                                 {"capitalize", capitalize_filter},
                                                 {"title", title_filter},
                                                 {"trim", trim_filter},
                                                 {"replace", replaced_filter},
                                                 {"indent", indent_filter},
                                                 {"string", string_filter},
                                                 {"safe", safe_filter},
                                                 {"escape", escape_filter},
                                                 {"e", escape_filter},
                                                 {"tojson", tojson_filter}}};

}  // namespace

std::span<const Function> text_filters() {
  return kTextFilters;
}

}  // namespace latebind::templates
