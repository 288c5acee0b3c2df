#include "core/template/methods.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "core/template/text_methods.h"

namespace latebind::templates {

using core::Result;

namespace {

Result<Value> items_of_dict(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("items()", given, {}));
  Items pairs;
  for (const auto& [key, value] : self.as_members())
    pairs.push_back(Value::sequence({key, value}, Kind::kTuple));
  return run.list(std::move(pairs), Kind::kView);
}

Result<Value> keys_of_dict(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("keys()", given, {}));
  Items all;
  for (const auto& [key, value] : self.as_members())
    all.push_back(key);
  return run.list(std::move(all), Kind::kView);
}

Result<Value> values_of_dict(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("values()", given, {}));
  Items all;
  for (const auto& [key, value] : self.as_members())
    all.push_back(value);
  return run.list(std::move(all), Kind::kView);
}

Result<Value> get_of_dict(Run& run, const Value& self, const Arguments& given) {
  if (!given.named.empty()) return invalid("get() takes no arguments by their names");
  LB_ASSIGN_OR_RETURN(const Items bound, bind("get()", given, {"key", "default"}));
  if (given.positional.empty()) return invalid("get() takes a key");
  LB_RETURN_IF_ERROR(run.look_up(self.as_members().size(), bound[0].weight()));
  if (const Value* const found = self.find(bound[0])) return *found;
  return given.positional.size() > 1 ? bound[1] : Value::none();
}

Result<Value> copy_of_dict(Run& /*run*/, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("copy()", given, {}));
  return self;
}

Result<Value> index_of_list(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("index()", given, {"value"}));
  LB_RETURN_IF_ERROR(run.spend_on(self));
  std::int64_t index = 0;
  for (const Value& one : self.as_items()) {
    LB_ASSIGN_OR_RETURN(const bool same, run.are_equal(one, bound[0]));
    if (same) return Value::integer(index);
    ++index;
  }
  return invalid("index() of a value that is not in the list");
}

Result<Value> count_of_list(Run& run, const Value& self, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("count()", given, {"value"}));
  LB_RETURN_IF_ERROR(run.spend_on(self));
  std::int64_t count = 0;
  for (const Value& one : self.as_items()) {
    LB_ASSIGN_OR_RETURN(const bool same, run.are_equal(one, bound[0]));
    count += same ? 1 : 0;
  }
  return Value::integer(count);
}

constexpr std::array<Function, 5> kOfDictionaries{{{"items", items_of_dict},
                                                   {"keys", keys_of_dict},
                                                   {"values", values_of_dict},
                                                   {"get", get_of_dict},
                                                   {"copy", copy_of_dict}}};
constexpr std::array<Function, 3> kOfLists{
    {{"index", index_of_list}, {"count", count_of_list}, {"copy", copy_of_dict}}};

constexpr std::array<std::string_view, 6> kRefusedOfDictionaries{"clear",   "fromkeys",   "pop",
                                                                 "popitem", "setdefault", "update"};
constexpr std::array<std::string_view, 8> kRefusedOfLists{"append", "clear",  "extend",  "insert",
                                                          "pop",    "remove", "reverse", "sort"};
constexpr std::array<std::string_view, 13> kRefusedOfNumbers{
    "as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "fromhex", "hex", "imag",
    "is_integer",       "numerator", "real",       "to_bytes"};
constexpr std::array<std::string_view, 6> kRefusedOfViews{"isdisjoint", "mapping", "start", "stop", "step", "send"};

std::span<const Function> methods_of(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return text_methods();
    case Kind::kDict:
      return kOfDictionaries;
    case Kind::kList:
      return kOfLists;
    case Kind::kTuple:
    case Kind::kRange:
      return std::span(kOfLists).first(2);
    default:
      return {};
  }
}

std::span<const std::string_view> refused_of(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return refused_text_methods();
    case Kind::kDict:
      return kRefusedOfDictionaries;
    case Kind::kList:
      return kRefusedOfLists;
    case Kind::kBoolean:
    case Kind::kInteger:
    case Kind::kFloat:
      return kRefusedOfNumbers;
    case Kind::kView:
    case Kind::kRange:
    case Kind::kIterator:
      return kRefusedOfViews;
    default:
      return {};
  }
}

}  // namespace

const Function* find_method(Kind kind, std::string_view name) {
  const auto methods = methods_of(kind);
  const auto found = std::ranges::find(methods, name, &Function::name);
  return found != methods.end() ? &*found : nullptr;
}

bool is_refused_attribute(Kind kind, std::string_view name) {
  const auto refused = refused_of(kind);
  return name.starts_with("__") || std::ranges::find(refused, name) != refused.end();
}

}  // namespace latebind::templates
