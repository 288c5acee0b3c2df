// Filters that treat each item of a list separately: map, select, reject, selectattr and rejectattr.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>

#include "core/template/attributes.h"
#include "core/template/filters.h"
#include "core/template/python_text.h"
#include "core/template/tests.h"
#include "core/text/ascii.h"

namespace latebind::templates {

using core::Result;

namespace {

// Returns the arguments without the first `count`.
Arguments without_first(const Arguments& given, std::size_t count) {
  Arguments rest = given;
  rest.positional.erase(rest.positional.begin(), rest.positional.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

Result<Value> map_filter(Run& run, const Value& value, const Arguments& given) {
  // As in Jinja, an empty value of any kind gives no items, and the arguments are not checked.
  if (!is_true(value)) return run.iterator({});
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  Items mapped;
  if (given.positional.empty()) {
    LB_ASSIGN_OR_RETURN(const Items bound, bind("map", given, {"attribute", "default"}));
    if (bound[0].is_undefined()) return invalid("the filter 'map' takes the name of a filter, or an attribute");
    for (const Value& item : items) {
      LB_ASSIGN_OR_RETURN(Value one, attribute_of(run, item, bound[0]));
      mapped.push_back(one.is_undefined() && !bound[1].is_undefined() ? bound[1] : std::move(one));
    }
    return run.iterator(std::move(mapped));
  }
  if (!given.positional.front().is_text()) return invalid("the filter 'map' takes the name of a filter");
  const Arguments rest = without_first(given, 1);
  for (const Value& item : items) {
    LB_ASSIGN_OR_RETURN(Value one, apply_filter(run, given.positional.front().as_text(), item, rest));
    mapped.push_back(std::move(one));
  }
  return run.iterator(std::move(mapped));
}

// Keeps the items that are true, or that pass the test in the arguments, or rejects them. With `by_attribute`, the
// first argument is the attribute that is tested.
Result<Value> choose(Run& run, const Value& value, const Arguments& given, bool keeps, bool by_attribute) {
  if (!is_true(value)) return run.iterator({});
  const std::size_t first = by_attribute ? 1 : 0;
  if (given.positional.size() < first) return invalid("the name of an attribute is missing");
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  const bool has_test = given.positional.size() > first;
  if (has_test && !given.positional[first].is_text()) return invalid("the name of a test is not a text");
  const Arguments rest = without_first(given, std::min(first + 1, given.positional.size()));
  Items kept;
  for (const Value& item : items) {
    Value tested = item;
    if (by_attribute) {
      LB_ASSIGN_OR_RETURN(tested, attribute_of(run, item, given.positional.front()));
    }
    bool holds = is_true(tested);
    if (has_test) {
      LB_ASSIGN_OR_RETURN(holds, apply_test(run, given.positional[first].as_text(), tested, rest));
    }
    if (holds == keeps) kept.push_back(item);
  }
  return run.iterator(std::move(kept));
}

Result<Value> select_filter(Run& run, const Value& value, const Arguments& given) {
  return choose(run, value, given, true, false);
}

Result<Value> reject_filter(Run& run, const Value& value, const Arguments& given) {
  return choose(run, value, given, false, false);
}

Result<Value> selectattr_filter(Run& run, const Value& value, const Arguments& given) {
  return choose(run, value, given, true, true);
}

Result<Value> rejectattr_filter(Run& run, const Value& value, const Arguments& given) {
  return choose(run, value, given, false, true);
}

constexpr std::array<Function, 5> kSelectingFilters{{{"map", map_filter},
                                                     {"select", select_filter},
                                                     {"reject", reject_filter},
                                                     {"selectattr", selectattr_filter},
                                                     {"rejectattr", rejectattr_filter}}};

}  // namespace

std::span<const Function> selecting_filters() {
  return kSelectingFilters;
}

Result<Value> attribute_of(Run& run, const Value& object, const Value& path) {
  if (path.is_integer()) return run.item(object, path);
  if (!path.is_text()) return invalid(fmt::format("the name of an attribute is {}, not a text", name_of(path.kind())));
  LB_RETURN_IF_ERROR(run.spend_on_characters(path.as_text().size()));
  Value found = object;
  for (const std::string_view part : split_at(path.as_text(), ".", path.as_text().size(), false)) {
    std::int64_t index = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = std::ranges::all_of(part, core::is_ascii_digit) && error == std::errc() && !part.empty() &&
                          stop == part.data() + part.size();
    LB_ASSIGN_OR_RETURN(found, run.item(found, is_index ? Value::integer(index) : Value::text(std::string(part))));
  }
  return found;
}

}  // namespace latebind::templates
