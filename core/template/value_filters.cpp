// Filters that return a number, one item of a list, or another value.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "core/template/filters.h"
#include "core/template/operators.h"
#include "core/template/python_text.h"

namespace latebind::templates {

using core::Result;

namespace {

constexpr double kIntegerEnd = 9223372036854775808.0;

Result<Value> default_value_filter(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("default", given, {"default_value", "boolean"}));
  if (!value.is_undefined() && !(is_true(bound[1]) && !is_true(value))) return value;
  if (bound[0].is_undefined() && given.positional.empty() && given.named.empty()) return Value::text({});
  return bound[0];
}

Result<Value> length_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("length", given, {}));
  std::size_t count = 0;
  if (value.is_text()) {
    LB_RETURN_IF_ERROR(run.check_size(value.as_text().size()));
    count = count_code_points(value.as_text());
  } else if (value.is_sequence()) {
    count = value.as_items().size();
  } else if (value.is_dictionary()) {
    count = value.as_members().size();
  } else if (!value.is_undefined()) {
    return invalid(fmt::format("{} has no length", name_of(value.kind())));
  }
  return Value::integer(static_cast<std::int64_t>(count));
}

Result<Value> first_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("first", given, {}));
  if (value.is(Kind::kIterator)) {
    Iterator& iterator = value.as_iterator();
    if (iterator.next < iterator.items.size()) return iterator.items[iterator.next++];
    return Value::undefined("the first item of nothing");
  }
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  return items.empty() ? Value::undefined("the first item of nothing") : items.front();
}

Result<Value> last_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("last", given, {}));
  if (value.is(Kind::kIterator)) return invalid("an iterator has no last item");
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  return items.empty() ? Value::undefined("the last item of nothing") : items.back();
}

std::optional<double> read_double(std::string_view text) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> read_integer(std::string_view text) {
  text = strip(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Value> integer_filter(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("int", given, {"default", "base"}));
  if (bound[1].is_integer() && bound[1].as_integer() != 10)
    return unsupported("'base' of the filter 'int' is not supported");
  const Value otherwise = bound[0].is_undefined() ? Value::integer(0) : bound[0];
  std::optional<double> number;
  if (value.is_integer()) return Value::integer(value.as_integer());
  if (value.is(Kind::kFloat)) number = value.as_double();
  if (value.is_text()) {
    if (const auto whole = read_integer(value.as_text())) return Value::integer(*whole);
    number = read_double(value.as_text());
  }
  if (!number || !std::isfinite(*number)) return otherwise;
  const double truncated = std::trunc(*number);
  if (!(truncated >= -kIntegerEnd && truncated < kIntegerEnd)) {
    return unsupported("integers beyond 64 bits are not supported");
  }
  return Value::integer(static_cast<std::int64_t>(truncated));
}

Result<Value> floating_filter(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("float", given, {"default"}));
  if (value.is_number()) return Value::number(value.as_double());
  if (value.is_text()) {
    if (const auto number = read_double(value.as_text())) return Value::number(*number);
  }
  return bound[0].is_undefined() ? Value::number(0) : bound[0];
}

Result<Value> absolute_filter(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("abs", given, {}));
  if (!value.is_number()) return invalid(fmt::format("{} has no absolute value", name_of(value.kind())));
  if (value.is(Kind::kFloat)) return Value::number(std::fabs(value.as_double()));
  return value.as_integer() < 0 ? negative(value) : Value::integer(value.as_integer());
}

// Rounds to nearest, ties to even.
Result<Value> rounded_filter(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("round", given, {"precision", "method"}));
  const bool is_common = bound[1].is_undefined() || (bound[1].is_text() && bound[1].as_text() == "common");
  if (!is_common) return unsupported("'method' of the filter 'round' is not supported");
  if (bound[0].is_integer() && bound[0].as_integer() != 0) {
    return unsupported("'precision' of the filter 'round' is not supported");
  }
  if (!value.is_number()) return invalid(fmt::format("{} cannot be rounded", name_of(value.kind())));
  if (value.is_integer()) return Value::integer(value.as_integer());
  return Value::number(std::nearbyint(value.as_double()));
}

constexpr std::array<Function, 10> kValueFilters{{{"default", default_value_filter},
                                                  {"d", default_value_filter},
                                                  {"length", length_filter},
                                                  {"count", length_filter},
                                                  {"first", first_filter},
                                                  {"last", last_filter},
                                                  {"int", integer_filter},
                                                  {"float", floating_filter},
                                                  {"abs", absolute_filter},
                                                  {"round", rounded_filter}}};

}  // namespace

std::span<const Function> value_filters() {
  return kValueFilters;
}

}  // namespace latebind::templates
