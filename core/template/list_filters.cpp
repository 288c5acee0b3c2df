// Filters that return a list, the text of a list, or one value computed from all items.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "core/template/attributes.h"
#include "core/template/filters.h"
#include "core/template/operators.h"
#include "core/template/python_text.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

Result<Value> as_list_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("list", given, {}));
  LB_ASSIGN_OR_RETURN(Items items, run.items_of(value));
  return run.list(std::move(items));
}

Result<Value> items_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("items", given, {}));
  if (value.is_undefined()) return run.iterator({});
  if (!value.is_dictionary())
    return invalid(fmt::format("the filter 'items' takes a dictionary, not {}", name_of(value.kind())));
  Items pairs;
  for (const auto& [key, member] : value.as_members())
    pairs.push_back(Value::sequence({key, member}, Kind::kTuple));
  return run.iterator(std::move(pairs));
}

Result<Value> join_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("join", given, {"d", "attribute"}));
  LB_ASSIGN_OR_RETURN(const Items joined, run.items_of(value));
  LB_ASSIGN_OR_RETURN(const std::string between, text_of(bound[0]));
  std::string text;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    Value one = joined[i];
    if (!bound[1].is_undefined()) {
      LB_ASSIGN_OR_RETURN(one, attribute_of(run, one, bound[1]));
    }
    if (one.is(Kind::kMarkup))
      return unsupported("the filter 'join' of texts that are marked as safe is not supported");
    LB_ASSIGN_OR_RETURN(const std::string part, text_of(one));
    if (i > 0) text += between;
    text += part;
    LB_RETURN_IF_ERROR(run.check_size(text.size()));
  }
  return Value::text(std::move(text));
}

Result<Value> reversed_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("reverse", given, {}));
  LB_ASSIGN_OR_RETURN(Items items, run.items_of(value));
  std::ranges::reverse(items);
  if (!value.is_text()) return run.iterator(std::move(items));
  std::string text;
  for (const Value& character : items)
    text += character.as_text();
  return run.text(std::move(text));
}

// Returns the sort keys of a list. `by` is an attribute path, or undefined to use the items themselves.
Result<Items> order_keys(Run& run, const Items& items, const Value& by, bool with_case) {
  Items keys;
  for (const Value& item : items) {
    Value key = item;
    if (!by.is_undefined() && !by.is(Kind::kNone)) {
      LB_ASSIGN_OR_RETURN(key, attribute_of(run, item, by));
    }
    if (key.is_text() && !with_case) {
      LB_RETURN_IF_ERROR(run.spend_on_characters(key.as_text().size()));
      LB_ASSIGN_OR_RETURN(std::string lowered, in_case(key.as_text(), Case::kLower));
      key = Value::text(std::move(lowered));
    }
    keys.push_back(std::move(key));
  }
  // Keys without an order are refused here, so that sorting cannot fail.
  const bool are_texts = std::ranges::all_of(keys, [](const Value& key) { return key.is_text(); });
  const bool are_numbers = std::ranges::all_of(keys, [](const Value& key) { return key.is_number(); });
  if (!are_texts && !are_numbers)
    return unsupported("only texts or numbers can be sorted; other values are not supported");
  return keys;
}

// Returns the positions of the items in the order of their keys.
Result<std::vector<std::size_t>> order_of(Run& run, const Items& items, const Value& by, bool with_case, bool reverse) {
  LB_ASSIGN_OR_RETURN(const Items keys, order_keys(run, items, by, with_case));
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  const auto less = [&](std::size_t a, std::size_t b) {
    const auto result = is_less(run, keys[a], keys[b]);
    return result.ok() && *result;
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return reverse ? less(b, a) : less(a, b); });
  return order;
}

Result<Value> sorted_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("sort", given, {"reverse", "case_sensitive", "attribute"}));
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  LB_ASSIGN_OR_RETURN(const auto order, order_of(run, items, bound[2], is_true(bound[1]), is_true(bound[0])));
  Items in_order;
  for (const std::size_t i : order)
    in_order.push_back(items[i]);
  return run.list(std::move(in_order));
}

Result<Value> dictsort_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("dictsort", given, {"case_sensitive", "by", "reverse"}));
  if (!value.is_dictionary())
    return invalid(fmt::format("the filter 'dictsort' takes a dictionary, not {}", name_of(value.kind())));
  const bool by_value = bound[1].is_text() && bound[1].as_text() == "value";
  Items keys;
  for (const auto& [key, member] : value.as_members())
    keys.push_back(by_value ? member : key);
  LB_ASSIGN_OR_RETURN(const auto order, order_of(run, keys, Value(), is_true(bound[0]), is_true(bound[2])));
  Items pairs;
  for (const std::size_t i : order) {
    const auto& [key, member] = value.as_members()[i];
    pairs.push_back(Value::sequence({key, member}, Kind::kTuple));
  }
  return run.list(std::move(pairs));
}

Result<Value> extreme(Run& run, std::string_view name, const Value& value, const Arguments& given, bool greatest) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind(name, given, {"case_sensitive", "attribute"}));
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  if (items.empty()) return Value::undefined("an extreme of nothing");
  LB_ASSIGN_OR_RETURN(const auto order, order_of(run, items, bound[1], is_true(bound[0]), greatest));
  return items[order.front()];
}

Result<Value> smallest_filter(Run& run, const Value& value, const Arguments& given) {
  return extreme(run, "min", value, given, false);
}

Result<Value> greatest_filter(Run& run, const Value& value, const Arguments& given) {
  return extreme(run, "max", value, given, true);
}

Result<Value> unique_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("unique", given, {"case_sensitive", "attribute"}));
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  LB_ASSIGN_OR_RETURN(const Items keys, order_keys(run, items, bound[1], is_true(bound[0])));
  Items kept;
  Items seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    LB_RETURN_IF_ERROR(run.spend(seen.size() * keys[i].weight()));
    if (std::ranges::any_of(seen, [&](const Value& one) { return is_same_scalar(one, keys[i]); })) continue;
    seen.push_back(keys[i]);
    kept.push_back(items[i]);
  }
  return run.iterator(std::move(kept));
}

Result<Value> sum_filter(Run& run, const Value& value, const Arguments& given) {
  LB_ASSIGN_OR_RETURN(const Items bound, bind("sum", given, {"attribute", "start"}));
  LB_ASSIGN_OR_RETURN(const Items items, run.items_of(value));
  Value total = bound[1].is_undefined() ? Value::integer(0) : bound[1];
  for (const Value& item : items) {
    Value one = item;
    if (!bound[0].is_undefined() && !bound[0].is(Kind::kNone)) {
      LB_ASSIGN_OR_RETURN(one, attribute_of(run, item, bound[0]));
    }
    LB_ASSIGN_OR_RETURN(total, apply(run, Operator::kAdd, total, one));
  }
  return total;
}

constexpr std::array<Function, 10> kListFilters{{{"list", as_list_filter},
                                                 {"items", items_filter},
                                                 {"join", join_filter},
                                                 {"reverse", reversed_filter},
                                                 {"sort", sorted_filter},
                                                 {"dictsort", dictsort_filter},
                                                 {"min", smallest_filter},
                                                 {"max", greatest_filter},
                                                 {"unique", unique_filter},
                                                 {"sum", sum_filter}}};

}  // namespace

std::span<const Function> list_filters() {
  return kListFilters;
}

}  // namespace latebind::templates
