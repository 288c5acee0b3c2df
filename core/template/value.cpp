#include "core/template/value.h"

#include <algorithm>

namespace latebind::templates {
namespace {

template <class Range, class DepthOf>
std::size_t depth_of(const Range& range, DepthOf depth) {
  std::size_t deepest = 0;
  for (const auto& one : range)
    deepest = std::max(deepest, depth(one));
  return deepest + 1;
}

constexpr std::size_t kBytesOfWeight = 64;
// Sums saturate here, far below an overflow.
constexpr std::size_t kWeightMax = std::size_t{1} << 40;

std::size_t weight_of(const Items& items) {
  std::size_t weight = 1;
  for (const Value& item : items)
    weight = std::min(weight + item.weight(), kWeightMax);
  return weight;
}

std::size_t weight_of(const Members& members) {
  std::size_t weight = 1;
  for (const auto& [key, value] : members)
    weight = std::min(weight + key.weight() + value.weight(), kWeightMax);
  return weight;
}

}  // namespace

Value Value::undefined(std::string name) {
  return {Kind::kUndefined, std::make_shared<const std::string>(std::move(name))};
}

Value Value::none() {
  return {Kind::kNone, {}};
}

Value Value::boolean(bool truth) {
  return {Kind::kBoolean, truth};
}

Value Value::integer(std::int64_t number) {
  return {Kind::kInteger, number};
}

Value Value::number(double number) {
  return {Kind::kFloat, number};
}

Value Value::text(std::string text) {
  return {Kind::kText, std::make_shared<const std::string>(std::move(text))};
}

Value Value::markup(std::string text) {
  return {Kind::kMarkup, std::make_shared<const std::string>(std::move(text))};
}

Value Value::sequence(Items items, Kind kind) {
  const std::size_t depth = depth_of(items, [](const Value& item) { return item.depth(); });
  const std::size_t weight = weight_of(items);
  return {kind,
          std::make_shared<const Sequence>(Sequence{.items = std::move(items), .weight = weight, .depth = depth})};
}

Value Value::iterator(Items items) {
  return {Kind::kIterator, std::make_shared<Iterator>(Iterator{.items = std::move(items)})};
}

Value Value::dictionary(Members members) {
  const std::size_t depth = depth_of(members, [](const auto& member) { return member.second.depth(); });
  const std::size_t weight = weight_of(members);
  return {Kind::kDict, std::make_shared<const Dictionary>(
                           Dictionary{.members = std::move(members), .weight = weight, .depth = depth})};
}

Value Value::name_space(std::shared_ptr<Namespace> members) {
  return {Kind::kNamespace, std::move(members)};
}

Value Value::loop(LoopState* state) {
  return {Kind::kLoop, state};
}

Value Value::callable(std::shared_ptr<const Callable> callable) {
  return {Kind::kCallable, std::move(callable)};
}

Value Value::of(const core::Json& json) {
  if (json.is_null()) return none();
  if (json.is_boolean()) return boolean(json.get<bool>());
  if (const auto whole = json.whole<std::int64_t>()) return integer(*whole);
  if (json.is_number()) return number(json.get<double>());
  if (json.is_string()) return text(json.text());
  if (json.is_array()) {
    Items items;
    for (const core::Json& item : json)
      items.push_back(of(item));
    return sequence(std::move(items));
  }
  Members members;
  for (const auto& [key, value] : json.members())
    members.emplace_back(text(key), of(value));
  return dictionary(std::move(members));
}

std::int64_t Value::as_integer() const {
  if (kind_ == Kind::kBoolean) return as_boolean() ? 1 : 0;
  return std::get<std::int64_t>(content_);
}

double Value::as_double() const {
  if (kind_ == Kind::kFloat) return std::get<double>(content_);
  return static_cast<double>(as_integer());
}

const std::string& Value::as_text() const {
  static const std::string kNoName;
  const auto* const text = std::get_if<std::shared_ptr<const std::string>>(&content_);
  return text != nullptr ? **text : kNoName;
}

const Items& Value::as_items() const {
  return std::get<std::shared_ptr<const Sequence>>(content_)->items;
}

const Members& Value::as_members() const {
  return std::get<std::shared_ptr<const Dictionary>>(content_)->members;
}

Iterator& Value::as_iterator() const {
  return *std::get<std::shared_ptr<Iterator>>(content_);
}

Namespace& Value::as_namespace() const {
  return *std::get<std::shared_ptr<Namespace>>(content_);
}

LoopState& Value::as_loop() const {
  return *std::get<LoopState*>(content_);
}

const Callable& Value::as_callable() const {
  return *std::get<std::shared_ptr<const Callable>>(content_);
}

std::size_t Value::depth() const {
  if (const auto* const sequence = std::get_if<std::shared_ptr<const Sequence>>(&content_)) return (*sequence)->depth;
  if (const auto* const dict = std::get_if<std::shared_ptr<const Dictionary>>(&content_)) return (*dict)->depth;
  // An iterator holds values that were made before it.
  const auto* const iterator = std::get_if<std::shared_ptr<Iterator>>(&content_);
  return iterator == nullptr ? 0 : depth_of((*iterator)->items, [](const Value& item) { return item.depth(); });
}

std::size_t Value::weight() const {
  if (const auto* const text = std::get_if<std::shared_ptr<const std::string>>(&content_)) {
    return weight_of(std::string_view(**text));
  }
  if (const auto* const sequence = std::get_if<std::shared_ptr<const Sequence>>(&content_)) return (*sequence)->weight;
  if (const auto* const dict = std::get_if<std::shared_ptr<const Dictionary>>(&content_)) return (*dict)->weight;
  const auto* const iterator = std::get_if<std::shared_ptr<Iterator>>(&content_);
  return iterator == nullptr ? 1 : weight_of((*iterator)->items);
}

const Value* Value::find(std::string_view key) const {
  if (!is_dictionary()) return nullptr;
  for (const auto& [name, value] : as_members()) {
    if (name.is_text() && name.as_text() == key) return &value;
  }
  return nullptr;
}

const Value* Value::find(const Value& key) const {
  if (!is_dictionary()) return nullptr;
  for (const auto& [name, value] : as_members()) {
    if (is_same_scalar(name, key)) return &value;
  }
  return nullptr;
}

std::size_t weight_of(std::string_view text) {
  return 1 + text.size() / kBytesOfWeight;
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kUndefined:
      return "an undefined value";
    case Kind::kNone:
      return "none";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kInteger:
      return "an integer";
    case Kind::kFloat:
      return "a float";
    case Kind::kText:
      return "a text";
    case Kind::kMarkup:
      return "a text that is marked as safe";
    case Kind::kList:
      return "a list";
    case Kind::kTuple:
      return "a tuple";
    case Kind::kRange:
      return "a range";
    case Kind::kView:
      return "a view of a dictionary";
    case Kind::kIterator:
      return "an iterator";
    case Kind::kDict:
      return "a dictionary";
    case Kind::kNamespace:
      return "a namespace";
    case Kind::kLoop:
      return "'loop'";
    case Kind::kCallable:
      return "a function";
  }
  return "a value";
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBoolean:
      return value.as_boolean();
    case Kind::kInteger:
      return value.as_integer() != 0;
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kText:
    case Kind::kMarkup:
      return !value.as_text().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kView:
      return !value.as_items().empty();
    case Kind::kDict:
      return !value.as_members().empty();
    case Kind::kIterator:
    case Kind::kNamespace:
    case Kind::kLoop:
    case Kind::kCallable:
      return true;
  }
  return true;
}

bool is_same_scalar(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integer() && b.is_integer()) return a.as_integer() == b.as_integer();
    return a.as_double() == b.as_double();
  }
  if (a.kind() != b.kind()) return false;
  if (a.is_text() || a.is(Kind::kMarkup)) return a.as_text() == b.as_text();
  switch (a.kind()) {
    case Kind::kNamespace:
      return &a.as_namespace() == &b.as_namespace();
    case Kind::kLoop:
      return &a.as_loop() == &b.as_loop();
    case Kind::kIterator:
      return &a.as_iterator() == &b.as_iterator();
    case Kind::kCallable:
      return &a.as_callable() == &b.as_callable();
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    default:
      return false;  // sequences and dictionaries
  }
}

}  // namespace latebind::templates
