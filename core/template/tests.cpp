#include "core/template/tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/template/operators.h"
#include "core/template/python_text.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

// A test that takes no argument.
template <bool (*kHolds)(const Value&)>
Result<bool> plain(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("a test", given, {}));
  return kHolds(value);
}

template <Operator kOperator>
Result<bool> compared(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("a test", given, {"other"}));
  return compare(run, kOperator, value, bound[0]);
}

template <Kind kKind>
bool has_kind(const Value& value) {
  return value.is(kKind);
}

bool is_defined(const Value& value) {
  return !value.is_undefined();
}

bool is_false_value(const Value& value) {
  return value.is(Kind::kBoolean) && !value.as_boolean();
}

bool is_true_value(const Value& value) {
  return value.is(Kind::kBoolean) && value.as_boolean();
}

bool is_string(const Value& value) {
  return value.is_text() || value.is(Kind::kMarkup);
}

bool is_number_value(const Value& value) {
  return value.is_number();
}

// The values with a length and indices. Views of dictionaries have no indices.
bool is_sequence_value(const Value& value) {
  return value.is_undefined() || is_string(value) || value.is_dictionary() ||
         (value.is_sequence() && !value.is(Kind::kView));
}

bool is_iterable(const Value& value) {
  return is_sequence_value(value) || value.is_sequence() || value.is(Kind::kIterator) || value.is(Kind::kLoop);
}

bool is_integer_value(const Value& value) {
  return value.is(Kind::kInteger);
}

Result<std::int64_t> whole_of(const Value& value) {
  if (value.is_integer()) return value.as_integer();
  return invalid(fmt::format("{} is no integer", name_of(value.kind())));
}

Result<bool> is_odd(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("'odd'", given, {}));
  LB_ASSIGN_OR_RETURN(const std::int64_t number, whole_of(value));
  return number % 2 != 0;
}

Result<bool> is_even(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const bool odd, is_odd(run, value, given));
  return !odd;
}

Result<bool> is_divisible(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("'divisibleby'", given, {"num"}));
  LB_ASSIGN_OR_RETURN(const std::int64_t number, whole_of(value));
  LB_ASSIGN_OR_RETURN(const std::int64_t divisor, whole_of(bound[0]));
  if (divisor == 0) return invalid("a division by zero");
  return divisor == -1 || number % divisor == 0;
}

Result<bool> is_same(Run& /*run*/, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("'sameas'", given, {"other"}));
  // Whether two texts or numbers are one object depends on Python's memory.
  const bool is_single =
      value.is(Kind::kNone) || value.is(Kind::kBoolean) || bound[0].is(Kind::kNone) || bound[0].is(Kind::kBoolean);
  if (!is_single) return unsupported(fmt::format("the test 'sameas' of {} is not supported", name_of(value.kind())));
  return value.kind() == bound[0].kind() && is_same_scalar(value, bound[0]);
}

// Returns whether the text has letters, all of them in this case.
template <Case kCase>
Result<bool> is_in_case(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("a test", given, {}));
  if (!value.is_text()) LB_RETURN_IF_ERROR(run.spend_on(value));
  LB_ASSIGN_OR_RETURN(const std::string text, text_of(value));
  LB_RETURN_IF_ERROR(run.spend_on_characters(text.size()));
  LB_ASSIGN_OR_RETURN(const std::string changed, in_case(text, kCase));
  LB_ASSIGN_OR_RETURN(const std::string other, in_case(text, kCase == Case::kLower ? Case::kUpper : Case::kLower));
  return text == changed && text != other;
}

constexpr std::array<Test, 37> kTests{{{"defined", plain<is_defined>},
                                       {"undefined", plain<has_kind<Kind::kUndefined>>},
                                       {"none", plain<has_kind<Kind::kNone>>},
                                       {"boolean", plain<has_kind<Kind::kBoolean>>},
                                       {"true", plain<is_true_value>},
                                       {"false", plain<is_false_value>},
                                       {"integer", plain<is_integer_value>},
                                       {"float", plain<has_kind<Kind::kFloat>>},
                                       {"number", plain<is_number_value>},
                                       {"string", plain<is_string>},
                                       {"mapping", plain<has_kind<Kind::kDict>>},
                                       {"sequence", plain<is_sequence_value>},
                                       {"iterable", plain<is_iterable>},
                                       {"callable", plain<has_kind<Kind::kCallable>>},
                                       {"escaped", plain<has_kind<Kind::kMarkup>>},
                                       {"odd", is_odd},
                                       {"even", is_even},
                                       {"divisibleby", is_divisible},
                                       {"sameas", is_same},
                                       {"lower", is_in_case<Case::kLower>},
                                       {"upper", is_in_case<Case::kUpper>},
                                       {"in", compared<Operator::kIn>},
                                       {"==", compared<Operator::kEqual>},
                                       {"eq", compared<Operator::kEqual>},
                                       {"equalto", compared<Operator::kEqual>},
                                       {"!=", compared<Operator::kNotEqual>},
                                       {"ne", compared<Operator::kNotEqual>},
                                       {"<", compared<Operator::kLess>},
                                       {"lt", compared<Operator::kLess>},
                                       {"lessthan", compared<Operator::kLess>},
                                       {"<=", compared<Operator::kLessOrEqual>},
                                       {"le", compared<Operator::kLessOrEqual>},
                                       {">", compared<Operator::kGreater>},
                                       {"gt", compared<Operator::kGreater>},
                                       {"greaterthan", compared<Operator::kGreater>},
                                       {">=", compared<Operator::kGreaterOrEqual>},
                                       {"ge", compared<Operator::kGreaterOrEqual>}}};

}  // namespace

Result<bool> apply_test(Run& run, std::string_view name, const Value& value, const Arguments& given) {
  if (value.is_text()) LB_RETURN_IF_ERROR(run.spend_on(value));
  const auto* const found = std::ranges::find(kTests, name, &Test::name);
  if (found == kTests.end()) return unsupported(fmt::format("the test {} is not supported", core::quoted(name)));
  return found->holds(run, value, given);
}

}  // namespace latebind::templates
