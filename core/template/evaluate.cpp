// The part of Run that evaluates expressions.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/template/filters.h"
#include "core/template/functions.h"
#include "core/template/lexer.h"
#include "core/template/operators.h"
#include "core/template/python_text.h"
#include "core/template/run.h"
#include "core/template/tests.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;

Result<Value> Run::evaluate(const Expression& expression, const Scope& scope) {
  const Nesting::Level level(nesting_);
  LB_RETURN_IF_ERROR(check_nesting());
  LB_RETURN_IF_ERROR(spend(1));
  auto value = compute(expression, scope);
  if (value.ok() || value.status().message().starts_with("line ")) return value;
  return fault_at(expression.line, value.status().message(), value.status().code());
}

Result<Value> Run::compute(const Expression& expression, const Scope& scope) {
  const auto part = [&](std::size_t i) { return evaluate(*expression.parts[i], scope); };
  switch (expression.kind) {
    case ExpressionKind::kConstant:
      return expression.constant;
    case ExpressionKind::kName:
      return name(expression, scope);
    case ExpressionKind::kList:
    case ExpressionKind::kTuple:
      return list_of(expression, scope);
    case ExpressionKind::kDict:
      return dictionary_of(expression, scope);
    case ExpressionKind::kAttribute: {
      LB_ASSIGN_OR_RETURN(const Value object, part(0));
      return attribute(object, expression.name);
    }
    case ExpressionKind::kItem: {
      LB_ASSIGN_OR_RETURN(const Value object, part(0));
      LB_ASSIGN_OR_RETURN(const Value key, part(1));
      return item(object, key);
    }
    case ExpressionKind::kSlice:
      return slice(expression, scope);
    case ExpressionKind::kCall:
      return call_of(expression, scope);
    case ExpressionKind::kFilter:
      return filter(expression, scope);
    case ExpressionKind::kTest:
      return test(expression, scope);
    case ExpressionKind::kNot: {
      LB_ASSIGN_OR_RETURN(const Value value, part(0));
      return Value::boolean(!is_true(value));
    }
    case ExpressionKind::kNegative:
    case ExpressionKind::kPositive: {
      LB_ASSIGN_OR_RETURN(const Value value, part(0));
      if (expression.kind == ExpressionKind::kNegative || !value.is_number()) return negative(value);
      return value.is(Kind::kFloat) ? value : Value::integer(value.as_integer());
    }
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr: {
      LB_ASSIGN_OR_RETURN(Value left, part(0));
      if (is_true(left) == (expression.kind == ExpressionKind::kOr)) return left;
      return part(1);
    }
    case ExpressionKind::kBinary: {
      LB_ASSIGN_OR_RETURN(const Value left, part(0));
      LB_ASSIGN_OR_RETURN(const Value right, part(1));
      return apply(*this, expression.operators.front(), left, right);
    }
    case ExpressionKind::kCompare:
      return compare_all(expression, scope);
    case ExpressionKind::kConcat:
      return concatenate(expression, scope);
    case ExpressionKind::kCondition: {
      LB_ASSIGN_OR_RETURN(const Value condition, part(1));
      if (is_true(condition)) return part(0);
      if (expression.parts[2] != nullptr) return part(2);
      return Value::undefined("the other case of an 'if' without 'else'");
    }
  }
  return invalid("an unknown expression");
}

Result<Value> Run::name(const Expression& expression, const Scope& scope) {
  const std::size_t weight = weight_of(expression.name);
  for (const Scope* one = &scope; one != nullptr; one = one->parent)
    LB_RETURN_IF_ERROR(look_up(one->names.size(), weight));
  if (const Value* const found = scope.find(expression.name)) return *found;
  if (expression.name == "strftime_now" && !now_) return Value::undefined(expression.name);
  if (const Function* const function = find_function(expression.name)) {
    return Value::callable(std::make_shared<const Callable>(Callable{.function = function}));
  }
  if (is_refused_function(expression.name)) {
    return unsupported(fmt::format("{} is not supported", core::quoted(expression.name)));
  }
  return Value::undefined(expression.name);
}

Result<Value> Run::list_of(const Expression& expression, const Scope& scope) {
  Items items;
  items.reserve(expression.parts.size());
  for (const ExpressionPtr& part : expression.parts) {
    LB_ASSIGN_OR_RETURN(Value item, evaluate(*part, scope));
    items.push_back(std::move(item));
  }
  return list(std::move(items), expression.kind == ExpressionKind::kTuple ? Kind::kTuple : Kind::kList);
}

Result<Value> Run::dictionary_of(const Expression& expression, const Scope& scope) {
  Members members;
  for (std::size_t i = 0; i + 1 < expression.parts.size(); i += 2) {
    LB_ASSIGN_OR_RETURN(Value key, evaluate(*expression.parts[i], scope));
    LB_ASSIGN_OR_RETURN(Value value, evaluate(*expression.parts[i + 1], scope));
    LB_RETURN_IF_ERROR(check_key(key));
    LB_RETURN_IF_ERROR(look_up(members.size(), key.weight()));
    const auto same = std::ranges::find_if(members, [&](const auto& one) { return is_same_scalar(one.first, key); });
    if (same != members.end()) {
      same->second = std::move(value);
    } else {
      members.emplace_back(std::move(key), std::move(value));
    }
  }
  return dictionary(std::move(members));
}

Result<Value> Run::slice(const Expression& expression, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(const Value object, evaluate(*expression.parts[0], scope));
  std::optional<std::int64_t> numbers[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (expression.parts[i + 1] == nullptr) continue;
    LB_ASSIGN_OR_RETURN(const Value number, evaluate(*expression.parts[i + 1], scope));
    if (number.is(Kind::kNone)) continue;
    if (number.is_undefined()) return is_not_defined(number);
    if (!number.is_integer())
      return invalid(fmt::format("a bound of a slice is {}, not an integer", name_of(number.kind())));
    numbers[i] = number.as_integer();
  }
  if (object.is_undefined()) return is_not_defined(object);
  const bool has_slices = object.is_text() || (object.is_sequence() && !object.is(Kind::kView));
  if (!has_slices) return Value::undefined("slice");
  const SliceBounds bounds{.begin = numbers[0], .end = numbers[1], .step = numbers[2].value_or(1)};
  if (bounds.step == 0) return invalid("the step of a slice is 0");
  if (object.is_text()) {
    LB_RETURN_IF_ERROR(spend_on_characters(object.as_text().size()));
    const auto characters = code_points_of(object.as_text());
    std::string text_of_slice;
    for (const std::size_t index : slice_indices(bounds, characters.size()))
      text_of_slice += characters[index];
    return text(std::move(text_of_slice));
  }
  Items items;
  for (const std::size_t index : slice_indices(bounds, object.as_items().size()))
    items.push_back(object.as_items()[index]);
  return list(std::move(items), object.kind());
}

Result<Arguments> Run::evaluate_arguments(const Expression& expression, const Scope& scope) {
  Arguments given;
  for (const GivenArgument& argument : expression.arguments) {
    LB_ASSIGN_OR_RETURN(Value value, evaluate(*argument.value, scope));
    if (argument.name.empty()) {
      given.positional.push_back(std::move(value));
    } else {
      given.named.emplace_back(argument.name, std::move(value));
    }
  }
  return given;
}

Result<Value> Run::call_of(const Expression& expression, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(const Value called, evaluate(*expression.parts.front(), scope));
  LB_ASSIGN_OR_RETURN(const Arguments given, evaluate_arguments(expression, scope));
  return call(called, given);
}

Result<Value> Run::filter(const Expression& expression, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(const Value filtered, evaluate(*expression.parts.front(), scope));
  LB_ASSIGN_OR_RETURN(const Arguments given, evaluate_arguments(expression, scope));
  return apply_filter(*this, expression.name, filtered, given);
}

Result<Value> Run::test(const Expression& expression, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(const Value tested, evaluate(*expression.parts.front(), scope));
  LB_ASSIGN_OR_RETURN(const Arguments given, evaluate_arguments(expression, scope));
  LB_ASSIGN_OR_RETURN(const bool holds, apply_test(*this, expression.name, tested, given));
  return Value::boolean(holds);
}

Result<Value> Run::compare_all(const Expression& expression, const Scope& scope) {
  LB_ASSIGN_OR_RETURN(Value left, evaluate(*expression.parts.front(), scope));
  for (std::size_t i = 0; i < expression.operators.size(); ++i) {
    LB_ASSIGN_OR_RETURN(Value right, evaluate(*expression.parts[i + 1], scope));
    LB_ASSIGN_OR_RETURN(const bool holds, compare(*this, expression.operators[i], left, right));
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Run::concatenate(const Expression& expression, const Scope& scope) {
  std::string joined;
  for (const ExpressionPtr& part : expression.parts) {
    LB_ASSIGN_OR_RETURN(const Value value, evaluate(*part, scope));
    LB_RETURN_IF_ERROR(print(value, joined));
  }
  return Value::text(std::move(joined));
}

}  // namespace latebind::templates
