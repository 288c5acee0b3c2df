#include "core/template/loop.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace latebind::templates {

using core::Result;

namespace {

Value number_of(std::size_t number) {
  return Value::integer(static_cast<std::int64_t>(number));
}

// loop.cycle(): returns the argument for the current iteration.
Result<Value> cycle_of_loop(Run& /*run*/, const Value& self, const Arguments& given) {
  if (given.positional.empty() || !given.named.empty()) return invalid("loop.cycle() takes one or more values");
  return given.positional[self.as_loop().index % given.positional.size()];
}

// loop.changed(): returns whether the arguments differ from those of the last call.
Result<Value> changed_of_loop(Run& run, const Value& self, const Arguments& given) {
  for (const Value& value : given.positional)
    LB_RETURN_IF_ERROR(run.spend_on(value));
  LoopState& loop = self.as_loop();
  const bool first = !loop.has_compared;
  LB_ASSIGN_OR_RETURN(const bool same, first ? Result<bool>(false) : run.are_equal(loop.compared, given.positional));
  loop.has_compared = true;
  if (!same) loop.compared = given.positional;
  return Value::boolean(!same);
}

constexpr std::array<Function, 2> kLoopMethods{{{"cycle", cycle_of_loop}, {"changed", changed_of_loop}}};

}  // namespace

Result<Value> loop_attribute(LoopState& loop, std::string_view name) {
  const std::size_t count = loop.items.size();
  if (name == "index") return number_of(loop.index + 1);
  if (name == "index0") return number_of(loop.index);
  if (name == "revindex") return number_of(count - loop.index);
  if (name == "revindex0") return number_of(count - loop.index - 1);
  if (name == "first") return Value::boolean(loop.index == 0);
  if (name == "last") return Value::boolean(loop.index + 1 == count);
  if (name == "length") return number_of(count);
  // In Jinja, only recursive loops increase the depth.
  if (name == "depth") return number_of(1);
  if (name == "depth0") return number_of(0);
  if (name == "previtem" && loop.index > 0) return loop.items[loop.index - 1];
  if (name == "nextitem" && loop.index + 1 < count) return loop.items[loop.index + 1];
  const auto* const method = std::ranges::find(kLoopMethods, name, &Function::name);
  if (method != kLoopMethods.end()) {
    return Value::callable(std::make_shared<const Callable>(Callable{.function = method, .self = Value::loop(&loop)}));
  }
  return Value::undefined(std::string(name));
}

}  // namespace latebind::templates
