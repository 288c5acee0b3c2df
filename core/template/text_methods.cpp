#include "core/template/text_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/template/python_text.h"
#include "core/text/ascii.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

Status is_no_text(std::string_view method, const Value& value) {
  if (value.is_undefined()) return is_not_defined(value);
  return invalid(fmt::format("{} of {}, not of a text", method, name_of(value.kind())));
}

// Returns the number in "maxsplit" or "count". An absent or negative one means no limit.
Result<std::size_t> most_of(std::string_view method, const Value& value) {
  if (value.is_undefined()) return kAll;
  if (!value.is_integer()) return invalid(fmt::format("{} of a number that is {}", method, name_of(value.kind())));
  return value.as_integer() < 0 ? kAll : static_cast<std::size_t>(value.as_integer());
}

Result<Value> stripped(Run& run, std::string_view method, const Value& self, const Arguments& given, Ends ends) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {"chars"}));
  std::optional<std::string_view> set;
  if (bound[0].is_text()) {
    set = bound[0].as_text();
  } else if (!bound[0].is_undefined() && !bound[0].is(Kind::kNone)) {
    return is_no_text(method, bound[0]);
  }
  return stripped_text(run, self.as_text(), ends, set);
}

Result<Value> strip_both_of_text(Run& run, const Value& self, const Arguments& given) {
  return stripped(run, "strip()", self, given, Ends::kBoth);
}

Result<Value> strip_left_of_text(Run& run, const Value& self, const Arguments& given) {
  return stripped(run, "lstrip()", self, given, Ends::kLeft);
}

Result<Value> strip_right_of_text(Run& run, const Value& self, const Arguments& given) {
  return stripped(run, "rstrip()", self, given, Ends::kRight);
}

Result<Value> list_of_parts(Run& run, const std::vector<std::string_view>& parts, Kind kind = Kind::kList) {
  Items items;
  for (const std::string_view part : parts) {
    LB_ASSIGN_OR_RETURN(Value text, run.text(std::string(part)));
    items.push_back(std::move(text));
  }
  return run.list(std::move(items), kind);
}

Result<Value> split_from(Run& run, std::string_view method, const Value& self, const Arguments& given, bool right) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {"sep", "maxsplit"}));
  LB_ASSIGN_OR_RETURN(const std::size_t most, most_of(method, bound[1]));
  const std::string& text = self.as_text();
  if (bound[0].is_undefined() || bound[0].is(Kind::kNone)) {
    LB_RETURN_IF_ERROR(run.spend_on_characters(text.size()));
    return list_of_parts(run, split_at_space(text, most, right));
  }
  if (!bound[0].is_text()) return is_no_text(method, bound[0]);
  if (bound[0].as_text().empty()) return invalid(fmt::format("{} at an empty separator", method));
  const std::string& separator = bound[0].as_text();
  LB_RETURN_IF_ERROR(run.search(text.size(), separator.size()));
  LB_RETURN_IF_ERROR(run.spend(std::min(count_parts(text, separator), most)));
  return list_of_parts(run, split_at(text, separator, most, right));
}

Result<Value> split_of_text(Run& run, const Value& self, const Arguments& given) {
  return split_from(run, "split()", self, given, false);
}

Result<Value> rsplit_of_text(Run& run, const Value& self, const Arguments& given) {
  return split_from(run, "rsplit()", self, given, true);
}

Result<Value> splitlines_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("splitlines()", given, {"keepends"}));
  LB_RETURN_IF_ERROR(run.spend_on_characters(self.as_text().size()));
  return list_of_parts(run, split_lines(self.as_text(), is_true(bound[0])));
}

Result<Value> partition_at(Run& run, std::string_view method, const Value& self, const Arguments& given, bool right) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {"sep"}));
  if (!bound[0].is_text()) return is_no_text(method, bound[0]);
  const std::string& separator = bound[0].as_text();
  if (separator.empty()) return invalid(fmt::format("{} at an empty separator", method));
  LB_RETURN_IF_ERROR(run.search(self.as_text().size(), separator.size()));
  auto parts = split_at(self.as_text(), separator, 1, right);
  if (parts.size() == 2) {
    parts.insert(parts.begin() + 1, separator);
  } else {
    parts.insert(right ? parts.begin() : parts.end(), 2, std::string_view());
  }
  return list_of_parts(run, parts, Kind::kTuple);
}

Result<Value> partition_of_text(Run& run, const Value& self, const Arguments& given) {
  return partition_at(run, "partition()", self, given, false);
}

Result<Value> rpartition_of_text(Run& run, const Value& self, const Arguments& given) {
  return partition_at(run, "rpartition()", self, given, true);
}

// Returns whether the text begins or ends with `part`, which is a text or a tuple of alternatives.
Result<Value> has_end(Run& run, std::string_view method, const Value& self, const Arguments& given, bool at_end) {
  if (!given.named.empty()) return invalid(fmt::format("{} takes no arguments by their names", method));
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {"prefix"}));
  const auto has = [&](const Value& part) {
    return at_end ? self.as_text().ends_with(part.as_text()) : self.as_text().starts_with(part.as_text());
  };
  if (bound[0].is_text()) return Value::boolean(has(bound[0]));
  if (!bound[0].is(Kind::kTuple)) return is_no_text(method, bound[0]);
  LB_RETURN_IF_ERROR(run.spend_on(bound[0]));
  for (const Value& part : bound[0].as_items()) {
    if (!part.is_text()) return is_no_text(method, part);
    if (has(part)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> startswith_of_text(Run& run, const Value& self, const Arguments& given) {
  return has_end(run, "startswith()", self, given, false);
}

Result<Value> endswith_of_text(Run& run, const Value& self, const Arguments& given) {
  return has_end(run, "endswith()", self, given, true);
}

Result<Value> removeprefix_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Value has, has_end(run, "removeprefix()", self, given, false));
  if (!given.positional.front().is_text()) return is_no_text("removeprefix()", given.positional.front());
  if (!has.as_boolean()) return self;
  return run.text(self.as_text().substr(given.positional.front().as_text().size()));
}

Result<Value> removesuffix_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Value has, has_end(run, "removesuffix()", self, given, true));
  if (!given.positional.front().is_text()) return is_no_text("removesuffix()", given.positional.front());
  if (!has.as_boolean()) return self;
  return run.text(self.as_text().substr(0, self.as_text().size() - given.positional.front().as_text().size()));
}

Result<Value> replaced_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("replace()", given, {"old", "new", "count"}));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!bound[i].is_text()) return is_no_text("replace()", bound[i]);
  }
  LB_ASSIGN_OR_RETURN(const std::size_t most, most_of("replace()", bound[2]));
  return replaced_text(run, self.as_text(), {bound[0].as_text(), bound[1].as_text()}, most);
}

Result<Value> in_case_of(Run& run, std::string_view method, const Value& self, const Arguments& given, Case wanted) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {}));
  return text_in_case(run, self.as_text(), wanted);
}

Result<Value> upper_of_text(Run& run, const Value& self, const Arguments& given) {
  return in_case_of(run, "upper()", self, given, Case::kUpper);
}

Result<Value> lower_of_text(Run& run, const Value& self, const Arguments& given) {
  return in_case_of(run, "lower()", self, given, Case::kLower);
}

Result<Value> title_of_text(Run& run, const Value& self, const Arguments& given) {
  return in_case_of(run, "title()", self, given, Case::kTitle);
}

Result<Value> capitalize_of_text(Run& run, const Value& self, const Arguments& given) {
  return in_case_of(run, "capitalize()", self, given, Case::kCapitalized);
}

// Returns the position of a part in code points, or -1.
Result<std::int64_t> position(Run& run, std::string_view method, const Value& self, const Arguments& given, bool last) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {"sub"}));
  if (!bound[0].is_text()) return is_no_text(method, bound[0]);
  const std::string& text = self.as_text();
  LB_RETURN_IF_ERROR(run.search(text.size(), bound[0].as_text().size()));
  const std::size_t at = last ? text.rfind(bound[0].as_text()) : text.find(bound[0].as_text());
  if (at == std::string::npos) return std::int64_t{-1};
  return static_cast<std::int64_t>(count_code_points(std::string_view(text).substr(0, at)));
}

Result<Value> find_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const std::int64_t at, position(run, "find()", self, given, false));
  return Value::integer(at);
}

Result<Value> rfind_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const std::int64_t at, position(run, "rfind()", self, given, true));
  return Value::integer(at);
}

Result<Value> index_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const std::int64_t at, position(run, "index()", self, given, false));
  if (at < 0) return invalid("index() of a text that is not in the other");
  return Value::integer(at);
}

Result<Value> count_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("count()", given, {"sub"}));
  if (!bound[0].is_text()) return is_no_text("count()", bound[0]);
  LB_RETURN_IF_ERROR(run.search(self.as_text().size(), bound[0].as_text().size()));
  const std::string& part = bound[0].as_text();
  const std::size_t number = part.empty() ? count_code_points(self.as_text()) + 1 : count_parts(self.as_text(), part);
  return Value::integer(static_cast<std::int64_t>(number));
}

Result<Value> join_of_text(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("join()", given, {"iterable"}));
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(bound[0]));
  std::string joined;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_text()) return is_no_text("join()", items[i]);
    if (i > 0) joined += self.as_text();
    joined += items[i].as_text();
    LB_RETURN_IF_ERROR(run.check_size(joined.size()));
  }
  return Value::text(std::move(joined));
}

// Returns whether the text is not empty and all its characters are of a class. The classes of non-ASCII characters are
// not supported.
Result<Value> all_are(std::string_view method, const Value& self, const Arguments& given, bool (*is_one)(char)) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(method, given, {}));
  const std::string& text = self.as_text();
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    return unsupported(fmt::format("{} of other characters than ASCII is not supported", method));
  }
  return Value::boolean(!text.empty() && std::ranges::all_of(text, is_one));
}

Result<Value> isdigit_of_text(Run& /*run*/, const Value& self, const Arguments& given) {
  return all_are("isdigit()", self, given, [](char c) { return core::is_ascii_digit(c); });
}

Result<Value> isalpha_of_text(Run& /*run*/, const Value& self, const Arguments& given) {
  return all_are("isalpha()", self, given, [](char c) { return core::is_ascii_letter(c); });
}

Result<Value> isalnum_of_text(Run& /*run*/, const Value& self, const Arguments& given) {
  return all_are("isalnum()", self, given, [](char c) { return core::is_ascii_letter(c) || core::is_ascii_digit(c); });
}

Result<Value> isspace_of_text(Run& /*run*/, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("isspace()", given, {}));
  return Value::boolean(!self.as_text().empty() && strip(self.as_text()).empty());
}

constexpr std::array<Function, 27> kTextMethods{{{"strip", strip_both_of_text},
                                                 {"lstrip", strip_left_of_text},
                                                 {"rstrip", strip_right_of_text},
                                                 {"split", split_of_text},
                                                 {"rsplit", rsplit_of_text},
                                                 {"splitlines", splitlines_of_text},
                                                 {"partition", partition_of_text},
                                                 {"rpartition", rpartition_of_text},
                                                 {"startswith", startswith_of_text},
                                                 {"endswith", endswith_of_text},
                                                 {"removeprefix", removeprefix_of_text},
                                                 {"removesuffix", removesuffix_of_text},
                                                 {"replace", replaced_of_text},
                                                 {"upper", upper_of_text},
                                                 {"lower", lower_of_text},
                                                 {"title", title_of_text},
                                                 {"capitalize", capitalize_of_text},
                                                 {"find", find_of_text},
                                                 {"rfind", rfind_of_text},
                                                 {"index", index_of_text},
                                                 {"count", count_of_text},
                                                 {"join", join_of_text},
                                                 {"isdigit", isdigit_of_text},
                                                 {"isnumeric", isdigit_of_text},
                                                 {"isalpha", isalpha_of_text},
                                                 {"isalnum", isalnum_of_text},
                                                 {"isspace", isspace_of_text}}};
constexpr std::array<std::string_view, 20> kRefusedOfTexts{
    "casefold",  "center",       "encode",      "expandtabs", "format",    "format_map", "isascii",
    "isdecimal", "islower",      "istitle",     "isupper",    "ljust",     "maketrans",  "rindex",
    "rjust",     "isidentifier", "isprintable", "swapcase",   "translate", "zfill"};

}  // namespace

std::span<const Function> text_methods() {
  return kTextMethods;
}

std::span<const std::string_view> refused_text_methods() {
  return kRefusedOfTexts;
}

Result<Value> stripped_text(Run& run, std::string_view text, Ends ends, std::optional<std::string_view> set) {
  if (set) LB_RETURN_IF_ERROR(run.search_set(text.size(), set->size()));
  return run.text(std::string(strip(text, ends, set)));
}

Result<Value> replaced_text(Run& run, std::string_view text, const Replacement& parts, std::size_t most) {
  LB_RETURN_IF_ERROR(run.search(text.size(), parts.old_part.size()));
  // Each replacement may lengthen the text.
  LB_RETURN_IF_ERROR(run.check_size((text.size() + 1) *
                                    (parts.new_part.size() / std::max<std::size_t>(parts.old_part.size(), 1) + 1)));
  return run.text(replace(text, parts.old_part, parts.new_part, most));
}

Result<Value> text_in_case(Run& run, std::string_view text, Case wanted) {
  LB_RETURN_IF_ERROR(run.spend_on_characters(text.size()));
  LB_ASSIGN_OR_RETURN(std::string changed, in_case(text, wanted));
  return run.text(std::move(changed));
}

}  // namespace latebind::templates
