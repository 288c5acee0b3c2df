#include "core/json.h"

#include <memory>
#include <utility>
#include <vector>

namespace {

// Values nested more deeply than any that Latebind reads or makes are destroyed as the library does it, with a list
// instead of the stack.
constexpr unsigned kDepthMax = 256;
thread_local unsigned t_depth = 0;

// Json: nlohmann::json or nlohmann::ordered_json.
template <class Json>
Json& value_of(Json& item) {
  return item;
}
template <class Json>
Json& value_of(typename Json::object_t::value_type& field) {
  return field.second;
}

template <class Json, class Parts>
void move_parts(Parts& parts, std::vector<Json>& to) {
  for (auto& part : parts)
    to.push_back(std::move(value_of<Json>(part)));
  parts.clear();
}

template <class Json, class Parts>
void take_apart(Parts& parts) {
  std::vector<Json> list;
  move_parts(parts, list);
  while (!list.empty()) {
    Json value = std::move(list.back());
    list.pop_back();
    if (auto* const items = value.template get_ptr<typename Json::array_t*>()) move_parts(*items, list);
    if (auto* const fields = value.template get_ptr<typename Json::object_t*>()) move_parts(*fields, list);
  }
}

template <class Value>
void delete_value(Value* value) {
  if (value == nullptr) return;
  std::destroy_at(value);
  std::allocator<Value>().deallocate(value, 1);
}

// `Value` is the library's union of pointers. A pointer is null when there was no memory for its object.
template <class Json, class Value>
void destroy_value(Value& value, typename Json::value_t type) {
  using Type = typename Json::value_t;
  ++t_depth;
  switch (type) {
    case Type::object:
      if (t_depth > kDepthMax && value.object != nullptr) take_apart<Json>(*value.object);
      delete_value(value.object);
      break;
    case Type::array:
      if (t_depth > kDepthMax && value.array != nullptr) take_apart<Json>(*value.array);
      delete_value(value.array);
      break;
    case Type::string:
      delete_value(value.string);
      break;
    case Type::binary:
      delete_value(value.binary);
      break;
    default:
      break;
  }
  --t_depth;
}

}  // namespace

template <>
void nlohmann::json::json_value::destroy(nlohmann::json::value_t t) {
  destroy_value<nlohmann::json>(*this, t);
}

template <>
void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t t) {
  destroy_value<nlohmann::ordered_json>(*this, t);
}

namespace latebind::core {

std::optional<std::size_t> find_zero_byte(std::string_view text) {
  const std::size_t at = text.find('\0');
  return at == std::string_view::npos ? std::nullopt : std::optional(at);
}

}  // namespace latebind::core
