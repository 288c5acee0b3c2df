#include "core/json/value.h"

#include <algorithm>

namespace latebind::core {

Json::Json(std::string text) : kind_(Kind::kString) {
  content_.text = new std::string(std::move(text));
}

Json::Json(const Json& other) : content_(other.content_) {
  if (other.is_string()) content_.text = new std::string(*other.content_.text);
  if (other.is_array()) content_.items = new Items(*other.content_.items);
  if (other.is_object()) content_.members = new Members(*other.content_.members);
  kind_ = other.kind_;
}

Json::Json(std::initializer_list<JsonItem> list) {
  const bool is_object = std::ranges::all_of(list, [](const JsonItem& item) {
    const Json& pair = item.value_;
    return pair.is_array() && pair.size() == 2 && pair[0].is_string();
  });
  *this = is_object ? object(list) : array(list);
}

Json Json::array(std::initializer_list<JsonItem> list) {
  Json array;
  Items& items = array.to_array();
  items.reserve(list.size());
  for (const JsonItem& item : list)
    items.push_back(std::move(item.value_));
  return array;
}

Json Json::object(std::initializer_list<JsonItem> list) {
  Json object;
  Members& members = object.to_object();
  members.reserve(list.size());
  for (const JsonItem& item : list)
    members.emplace_back(item.value_[0].text(), std::move(item.value_[1]));
  return object;
}

void Json::destroy() noexcept {
  switch (kind_) {
    case Kind::kString:
      delete content_.text;
      break;
    case Kind::kArray:
      delete content_.items;
      break;
    case Kind::kObject:
      delete content_.members;
      break;
    default:
      break;
  }
}

Json::Items& Json::to_array() {
  if (!is_array()) {
    Json made;
    made.content_.items = new Items();
    made.kind_ = Kind::kArray;
    *this = std::move(made);
  }
  return *content_.items;
}

Json::Members& Json::to_object() {
  if (!is_object()) {
    Json made;
    made.content_.members = new Members();
    made.kind_ = Kind::kObject;
    *this = std::move(made);
  }
  return *content_.members;
}

const std::string& Json::text() const {
  static const std::string kNone;
  return is_string() ? *content_.text : kNone;
}

const Json::Items& Json::items() const {
  static const Items kNone;
  return is_array() ? *content_.items : kNone;
}

const Json::Members& Json::members() const {
  static const Members kNone;
  return is_object() ? *content_.members : kNone;
}

std::size_t Json::size() const {
  return is_array() ? content_.items->size() : members().size();
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  const Json* const found = find(key);
  return found == nullptr ? kNull : *found;
}

Json& Json::operator[](std::string_view key) {
  Members& members = to_object();
  Json* const found = find(key);
  return found != nullptr ? *found : members.emplace_back(std::string(key), nullptr).second;
}

void Json::add_member(std::string key, Json value) {
  to_object().emplace_back(std::move(key), std::move(value));
}

Json& Json::member_at(std::size_t index) {
  return (*content_.members)[index].second;
}

void Json::push_back(Json value) {
  to_array().push_back(std::move(value));
}

bool Json::erase(std::string_view key) {
  return is_object() && std::erase_if(*content_.members, [&](const Member& member) { return member.first == key; }) > 0;
}

void Json::reserve(std::size_t count) {
  if (is_array()) content_.items->reserve(count);
  if (is_object()) content_.members->reserve(count);
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.members())
    (*this)[key] = value;
}

bool Json::are_equal(const Json& a, const Json& b) {
  if (a.kind_ != b.kind_) return a.is_number() && b.is_number() && a.get<double>() == b.get<double>();
  switch (a.kind_) {
    case Kind::kNull:
      return true;
    case Kind::kBoolean:
      return a.content_.boolean == b.content_.boolean;
    case Kind::kNegative:
    case Kind::kUnsigned:
      return a.content_.whole == b.content_.whole;
    case Kind::kDouble:
      return a.content_.number == b.content_.number;
    case Kind::kString:
      return *a.content_.text == *b.content_.text;
    case Kind::kArray:
      return *a.content_.items == *b.content_.items;
    case Kind::kObject:
      break;
  }
  return a.size() == b.size() && std::ranges::all_of(a.members(), [&b](const Member& member) {
           const Json* const found = b.find(member.first);
           return found != nullptr && *found == member.second;
         });
}

}  // namespace latebind::core
