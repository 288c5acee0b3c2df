#include "core/template/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "core/template/python_text.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

Result<Value> range_function(Run& run, const Value& /*self*/, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("range()", given, {"start", "stop", "step"}));
  std::int64_t numbers[3] = {0, 0, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    if (bound[i].is_undefined()) continue;
    if (!bound[i].is_integer()) return invalid(fmt::format("range() takes integers, not {}", name_of(bound[i].kind())));
    numbers[i] = bound[i].as_integer();
  }
  if (bound[0].is_undefined()) return invalid("range() takes one or more arguments");
  if (bound[1].is_undefined()) {
    numbers[1] = numbers[0];
    numbers[0] = 0;
  }
  const auto [start, stop, step] = numbers;
  if (step == 0) return invalid("the step of range() is 0");
  Items items;
  // The limits of the range may be any 64-bit integers, so each addition is checked for overflow.
  for (std::int64_t number = start; step > 0 ? number < stop : number > stop;) {
    LB_RETURN_IF_ERROR(run.spend(1));
    items.push_back(Value::integer(number));
    if (__builtin_add_overflow(number, step, &number)) break;
  }
  return Value::sequence(std::move(items), Kind::kRange);
}

Result<Value> dictionary_function(Run& run, const Value& /*self*/, const Arguments& given) {
  Members members;
  if (given.positional.size() > 1) return invalid("dict() takes at most one argument without a name");
  for (const Value& value : given.positional) {
    if (!value.is_dictionary()) return unsupported(fmt::format("dict() of {} is not supported", name_of(value.kind())));
    members = value.as_members();
  }
  for (const auto& [name, value] : given.named) {
    LB_RETURN_IF_ERROR(run.look_up(members.size(), weight_of(name)));
    const auto same = std::ranges::find_if(
        members, [&name = name](const auto& one) { return one.first.is_text() && one.first.as_text() == name; });
    if (same != members.end()) {
      same->second = value;
    } else {
      members.emplace_back(Value::text(name), value);
    }
  }
  return run.dictionary(std::move(members));
}

Result<Value> name_space_function(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Value members, dictionary_function(run, self, given));
  auto made = std::make_shared<Namespace>();
  for (const auto& [key, value] : members.as_members()) {
    if (!key.is_text()) return unsupported("names in a namespace that are not texts are not supported");
    made->members.emplace_back(key.as_text(), value);
  }
  return Value::name_space(std::move(made));
}

Result<Value> raise_exception_function(Run& /*run*/, const Value& /*self*/, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("raise_exception()", given, {"message"}));
  LB_ASSIGN_OR_RETURN(const std::string message, text_of(bound[0]));
  return Status(StatusCode::kInvalidArgument, fmt::format("the template refuses this: {}", core::printable(message)));
}

constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};

// Returns the text of one strftime() directive in the C locale; empty for an unknown one.
std::string formatted(char directive, const std::tm& time) {
  const auto at = [](auto& names, int index) {
    return std::string(names[static_cast<std::size_t>(index) % names.size()]);
  };
  switch (directive) {
    case 'Y':
      return fmt::format("{}", time.tm_year + 1900);
    case 'y':
      return fmt::format("{:02}", time.tm_year % 100);
    case 'm':
      return fmt::format("{:02}", time.tm_mon + 1);
    case 'd':
      return fmt::format("{:02}", time.tm_mday);
    case 'H':
      return fmt::format("{:02}", time.tm_hour);
    case 'I':
      return fmt::format("{:02}", (time.tm_hour + 11) % 12 + 1);
    case 'M':
      return fmt::format("{:02}", time.tm_min);
    case 'S':
      return fmt::format("{:02}", time.tm_sec);
    case 'p':
      return time.tm_hour < 12 ? "AM" : "PM";
    case 'j':
      return fmt::format("{:03}", time.tm_yday + 1);
    case 'A':
      return at(kDays, time.tm_wday);
    case 'a':
      return at(kDays, time.tm_wday).substr(0, 3);
    case 'B':
      return at(kMonths, time.tm_mon);
    case 'b':
      return at(kMonths, time.tm_mon).substr(0, 3);
    case '%':
      return "%";
    default:
      return {};
  }
}

Result<Value> strftime_now_function(Run& run, const Value& /*self*/, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("strftime_now()", given, {"format"}));
  if (!bound[0].is_text() || !run.now()) return invalid("strftime_now() takes a text");
  const std::string& format = bound[0].as_text();
  const std::tm time = run.now()();
  std::string text;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      text += format[i];
      continue;
    }
    const std::string part = formatted(format[++i], time);
    if (part.empty()) {
      return unsupported(fmt::format("{} in strftime_now() is not supported", core::quoted(format.substr(i - 1, 2))));
    }
    text += part;
  }
  return run.text(std::move(text));
}

constexpr std::array<Function, 5> kFunctions{{{"range", range_function},
                                              {"dict", dictionary_function},
                                              {"namespace", name_space_function},
                                              {"raise_exception", raise_exception_function},
                                              {"strftime_now", strftime_now_function}}};
constexpr std::array<std::string_view, 7> kRefusedFunctions{"lipsum", "cycler", "joiner", "varargs",
                                                            "kwargs", "caller", "self"};

}  // namespace

const Function* find_function(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name, &Function::name);
  return found != kFunctions.end() ? found : nullptr;
}

bool is_refused_function(std::string_view name) {
  return std::ranges::find(kRefusedFunctions, name) != kRefusedFunctions.end();
}

}  // namespace latebind::templates
