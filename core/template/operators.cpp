#include "core/template/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%"};

Status too_large() {
  return unsupported("integers beyond 64 bits are not supported");
}

Status do_not_fit(std::string_view sign, const Value& a, const Value& b) {
  if (a.is_undefined()) return is_not_defined(a);
  if (b.is_undefined()) return is_not_defined(b);
  return invalid(fmt::format("'{}' of {} and {}", sign, name_of(a.kind()), name_of(b.kind())));
}

Result<Value> of_integers(Operator operation, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflows = false;
  switch (operation) {
    case Operator::kAdd:
      overflows = __builtin_add_overflow(a, b, &result);
      break;
    case Operator::kSubtract:
      overflows = __builtin_sub_overflow(a, b, &result);
      break;
    case Operator::kMultiply:
      overflows = __builtin_mul_overflow(a, b, &result);
      break;
    default: {
      if (b == 0) return invalid("a division by zero");
      if (operation == Operator::kDivide) return Value::number(static_cast<double>(a) / static_cast<double>(b));
      if (a == std::numeric_limits<std::int64_t>::min() && b == -1) return too_large();
      // The quotient is rounded down, and the remainder has the sign of the divisor.
      const std::int64_t rest = a % b;
      const bool is_rounded_up = rest != 0 && (rest < 0) != (b < 0);
      result = operation == Operator::kModulo ? rest + (is_rounded_up ? b : 0) : a / b - (is_rounded_up ? 1 : 0);
    }
  }
  if (overflows) return too_large();
  return Value::integer(result);
}

Result<Value> of_floats(Operator operation, double a, double b) {
  switch (operation) {
    case Operator::kAdd:
      return Value::number(a + b);
    case Operator::kSubtract:
      return Value::number(a - b);
    case Operator::kMultiply:
      return Value::number(a * b);
    default:
      break;
  }
  if (b == 0) return invalid("a division by zero");
  if (operation == Operator::kDivide) return Value::number(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (rest == 0) rest = std::copysign(0.0, b);
  if (operation == Operator::kModulo) return Value::number(rest);
  const double quotient = (a - rest) / b;
  return Value::number(quotient == 0 ? std::copysign(0.0, a / b) : std::round(quotient));
}

Result<Value> repeated(Run& run, const Value& value, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  const std::size_t size = value.is_text() ? value.as_text().size() : value.as_items().size();
  if (size == 0 || count == 0) return value.is_text() ? Value::text({}) : Value::sequence({}, value.kind());
  if (count > std::numeric_limits<std::uint32_t>::max()) return run.check_size(count).with_context("'*'");
  LB_RETURN_IF_ERROR(run.check_size(size * count));
  if (value.is_text()) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
      text += value.as_text();
    return Value::text(std::move(text));
  }
  LB_RETURN_IF_ERROR(run.spend(size * count));
  Items items;
  for (std::size_t i = 0; i < count; ++i)
    items.insert(items.end(), value.as_items().begin(), value.as_items().end());
  return run.list(std::move(items), value.kind());
}

bool is_list(const Value& value) {
  return value.is(Kind::kList) || value.is(Kind::kTuple);
}

Result<bool> contains(Run& run, const Value& container, const Value& item) {
  if (container.is_text()) {
    if (item.is_undefined()) return is_not_defined(item);
    if (!item.is_text()) return invalid(fmt::format("'in' of {} and a text", name_of(item.kind())));
    LB_RETURN_IF_ERROR(run.search(container.as_text().size(), item.as_text().size()));
    return container.as_text().find(item.as_text()) != std::string::npos;
  }
  if (container.is_dictionary()) return container.find(item) != nullptr;
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(container));
  for (const Value& one : items) {
    LB_ASSIGN_OR_RETURN(const bool same, run.are_equal(one, item));
    if (same) return true;
  }
  return false;
}

}  // namespace

Result<Value> apply(Run& run, Operator operation, const Value& a, const Value& b) {
  const std::string_view sign = kSigns[static_cast<std::size_t>(operation)];
  if (a.is_integer() && b.is_integer()) return of_integers(operation, a.as_integer(), b.as_integer());
  if (a.is_number() && b.is_number()) return of_floats(operation, a.as_double(), b.as_double());
  if (operation == Operator::kAdd && a.is_text() && b.is_text()) return run.text(a.as_text() + b.as_text());
  if (operation == Operator::kAdd && is_list(a) && a.kind() == b.kind()) {
    Items items = a.as_items();
    items.insert(items.end(), b.as_items().begin(), b.as_items().end());
    return run.list(std::move(items), a.kind());
  }
  if (operation == Operator::kMultiply) {
    if ((a.is_text() || is_list(a)) && b.is_integer()) return repeated(run, a, b.as_integer());
    if ((b.is_text() || is_list(b)) && a.is_integer()) return repeated(run, b, a.as_integer());
  }
  if (operation == Operator::kModulo && a.is_text()) return unsupported("'%' of a text is not supported");
  return do_not_fit(sign, a, b);
}

Result<Value> negative(const Value& number) {
  if (number.is(Kind::kFloat)) return Value::number(-number.as_double());
  if (!number.is_integer()) return do_not_fit("-", Value::integer(0), number);
  return of_integers(Operator::kSubtract, 0, number.as_integer());
}

Result<bool> is_less(Run& run, const Value& a, const Value& b) {
  if (a.is_integer() && b.is_integer()) return a.as_integer() < b.as_integer();
  if (a.is_number() && b.is_number()) return a.as_double() < b.as_double();
  // The order of UTF-8 is that of code points.
  if (a.is_text() && b.is_text()) return a.as_text() < b.as_text();
  if (is_list(a) && a.kind() == b.kind()) {
    const Items& left = a.as_items();
    const Items& right = b.as_items();
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      LB_ASSIGN_OR_RETURN(const bool same, run.are_equal(left[i], right[i]));
      if (!same) return is_less(run, left[i], right[i]);
    }
    return left.size() < right.size();
  }
  return do_not_fit("<", a, b);
}

Result<bool> compare(Run& run, Operator operation, const Value& a, const Value& b) {
  LB_RETURN_IF_ERROR(run.spend(a.weight() + b.weight()));
  switch (operation) {
    case Operator::kEqual:
      return run.are_equal(a, b);
    case Operator::kNotEqual: {
      LB_ASSIGN_OR_RETURN(const bool same, run.are_equal(a, b));
      return !same;
    }
    case Operator::kLess:
      return is_less(run, a, b);
    case Operator::kGreater:
      return is_less(run, b, a);
    case Operator::kLessOrEqual:
    case Operator::kGreaterOrEqual: {
      LB_ASSIGN_OR_RETURN(const bool less,
                          operation == Operator::kLessOrEqual ? is_less(run, a, b) : is_less(run, b, a));
      return less ? Result<bool>(true) : run.are_equal(a, b);
    }
    case Operator::kIn:
      return contains(run, b, a);
    case Operator::kNotIn: {
      LB_ASSIGN_OR_RETURN(const bool found, contains(run, b, a));
      return !found;
    }
    default:
      return invalid("no comparison");
  }
}

}  // namespace latebind::templates
