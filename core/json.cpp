#include "core/json.h"

#include <memory>
#include <utility>
#include <vector>

namespace {

using nlohmann::json;

// Values that lie deeper in each other than any that we read or make are taken apart as the library does it, by a list
// instead of the stack.
constexpr unsigned kDepthMax = 256;
thread_local unsigned t_depth = 0;

json& value_of(json& item) {
  return item;
}
json& value_of(json::object_t::value_type& field) {
  return field.second;
}

template <class Parts>
void move_parts(Parts& parts, std::vector<json>& to) {
  for (auto& part : parts)
    to.push_back(std::move(value_of(part)));
  parts.clear();
}

template <class Parts>
void take_apart(Parts& parts) {
  std::vector<json> list;
  move_parts(parts, list);
  while (!list.empty()) {
    json value = std::move(list.back());
    list.pop_back();
    if (auto* const items = value.get_ptr<json::array_t*>()) move_parts(*items, list);
    if (auto* const fields = value.get_ptr<json::object_t*>()) move_parts(*fields, list);
  }
}

template <class Value>
void delete_value(Value* value) {
  std::destroy_at(value);
  std::allocator<Value>().deallocate(value, 1);
}

}  // namespace

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t) {
  ++t_depth;
  switch (t) {
    case value_t::object:
      if (t_depth > kDepthMax) take_apart(*object);
      delete_value(object);
      break;
    case value_t::array:
      if (t_depth > kDepthMax) take_apart(*array);
      delete_value(array);
      break;
    case value_t::string:
      delete_value(string);
      break;
    case value_t::binary:
      delete_value(binary);
      break;
    default:
      break;
  }
  --t_depth;
}
