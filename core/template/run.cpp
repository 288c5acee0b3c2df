#include "core/template/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/template/loop.h"
#include "core/template/methods.h"
#include "core/template/python_text.h"
#include "core/text/quote.h"

namespace latebind::templates {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::size_t kListDepthMax = 64;
constexpr std::size_t kBytesPerStep = 64;
constexpr std::size_t kCharacterBytesPerStep = 4;  // of characters that are handled one by one
constexpr std::size_t kSetBytesPerStep = 8;        // of a set in which characters are looked for
constexpr std::size_t kNamesPerStep = 16;          // that are searched for one

// Returns whether the value must not outlive the block that made it.
bool ends_with_block(const Value& value) {
  return value.is(Kind::kNamespace) || value.is(Kind::kLoop) || value.is(Kind::kCallable);
}

std::optional<std::size_t> index_in(std::size_t size, std::int64_t index) {
  const auto count = static_cast<std::int64_t>(size);
  if (index < 0) index += count;
  if (index < 0 || index >= count) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// Returns a * b, or the greatest number if that is too large.
std::size_t product_of(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max() : product;
}

Value bound(const Function& method, const Value& self) {
  return Value::callable(std::make_shared<const Callable>(Callable{.function = &method, .self = self}));
}

}  // namespace

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto found =
        std::ranges::find(scope->names, name, [](const auto& one) { return std::string_view(one.first); });
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

void Scope::set(std::string_view name, Value value) {
  const auto found = std::ranges::find(names, name, [](const auto& one) { return std::string_view(one.first); });
  if (found != names.end()) {
    found->second = std::move(value);
  } else {
    names.emplace_back(name, std::move(value));
  }
}

Status Run::spend(std::size_t steps) {
  steps_ += std::min(steps, limits_.steps + 1);
  if (steps_ <= limits_.steps) return {};
  return {StatusCode::kTextTooLong, fmt::format("the template needs more than {} steps", limits_.steps)};
}

Status Run::check_size(std::size_t bytes) {
  if (bytes > limits_.output_bytes) {
    return {StatusCode::kTextTooLong, fmt::format("a text of more than {} bytes", limits_.output_bytes)};
  }
  return spend(bytes / kBytesPerStep);
}

Status Run::check_nesting() const {
  if (!nesting_.is_too_deep()) return {};
  return {core::StatusCode::kTextTooLong,
          fmt::format("the template is nested deeper than {} levels", nesting_.depth_max())};
}

Status Run::spend_on_characters(std::size_t bytes) {
  return spend(bytes / kCharacterBytesPerStep);
}

Status Run::search(std::size_t text, std::size_t part) {
  LB_RETURN_IF_ERROR(spend(text / kBytesPerStep));
  return part > text ? Status() : spend(product_of(text, part) / (kBytesPerStep * kBytesPerStep));
}

Status Run::search_set(std::size_t text, std::size_t set) {
  LB_RETURN_IF_ERROR(spend(text / kBytesPerStep));
  // Characters of several bytes are found more slowly than the bytes of a part are compared.
  return spend(product_of(text, set) / (kBytesPerStep * kSetBytesPerStep));
}

Status Run::look_up(std::size_t count, std::size_t key_weight) {
  return spend((count / kNamesPerStep + 1) * key_weight - 1);
}

Result<bool> Run::are_equal(const Value& a, const Value& b) {
  if (a.kind() == b.kind() && a.is_sequence()) return are_equal(a.as_items(), b.as_items());
  if (!a.is_dictionary() || !b.is_dictionary()) return is_same_scalar(a, b);
  const Members& left = a.as_members();
  const Members& right = b.as_members();
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto& [key, value] = left[i];
    // Equal dictionaries mostly have their keys in the same order.
    const Value* other = is_same_scalar(right[i].first, key) ? &right[i].second : nullptr;
    if (other == nullptr) {
      LB_RETURN_IF_ERROR(look_up(right.size(), key.weight()));
      other = b.find(key);
    }
    if (other == nullptr) return false;
    LB_ASSIGN_OR_RETURN(const bool same, are_equal(value, *other));
    if (!same) return false;
  }
  return true;
}

Result<bool> Run::are_equal(const Items& a, const Items& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    LB_ASSIGN_OR_RETURN(const bool same, are_equal(a[i], b[i]));
    if (!same) return false;
  }
  return true;
}

Result<Value> Run::text(std::string text) {
  LB_RETURN_IF_ERROR(check_size(text.size()));
  return Value::text(std::move(text));
}

Result<Value> Run::list(Items items, Kind kind) {
  LB_RETURN_IF_ERROR(check_items(items));
  Value made = Value::sequence(std::move(items), kind);
  LB_RETURN_IF_ERROR(check_whole(made));
  return made;
}

Status Run::check_whole(const Value& value) const {
  if (value.depth() > kListDepthMax) return invalid(fmt::format("lists are nested deeper than {}", kListDepthMax));
  // Lists can share items, so a small value may be large to traverse.
  if (value.weight() <= std::min(limits_.steps, limits_.output_bytes / kBytesPerStep)) return {};
  return {StatusCode::kTextTooLong, "a list has too much content"};
}

Status Run::check_items(const Items& items) {
  LB_RETURN_IF_ERROR(spend(items.size()));
  const auto bad = std::ranges::find_if(items, ends_with_block);
  return bad == items.end() ? Status()
                            : unsupported(fmt::format("{} in a list is not supported", name_of(bad->kind())));
}

Result<Value> Run::iterator(Items items) {
  LB_RETURN_IF_ERROR(check_items(items));
  return Value::iterator(std::move(items));
}

Status Run::check_key(const Value& key) {
  if (key.is_text() || key.is_number() || key.is(Kind::kNone)) return {};
  return unsupported(fmt::format("{} as the key of a dictionary is not supported", name_of(key.kind())));
}

Result<Value> Run::dictionary(Members members) {
  LB_RETURN_IF_ERROR(spend(members.size()));
  for (const auto& [key, value] : members) {
    if (ends_with_block(value)) {
      return unsupported(fmt::format("{} in a dictionary is not supported", name_of(value.kind())));
    }
    LB_RETURN_IF_ERROR(check_key(key));
  }
  Value made = Value::dictionary(std::move(members));
  LB_RETURN_IF_ERROR(check_whole(made));
  return made;
}

Result<Items> Run::items_of(const Value& value) {
  Items items;
  switch (value.kind()) {
    case Kind::kUndefined:
      break;
    case Kind::kText:
      // Each character becomes a value, so the steps are counted first.
      LB_RETURN_IF_ERROR(spend(value.as_text().size()));
      for (const std::string_view character : CodePoints(value.as_text()))
        items.push_back(Value::text(std::string(character)));
      return items;
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kView:
      items = value.as_items();
      break;
    case Kind::kIterator: {
      Iterator& iterator = value.as_iterator();
      items.assign(iterator.items.begin() + static_cast<std::ptrdiff_t>(iterator.next), iterator.items.end());
      iterator.next = iterator.items.size();
      break;
    }
    case Kind::kDict:
      for (const auto& [key, member] : value.as_members())
        items.push_back(key);
      break;
    default:
      return invalid(fmt::format("{} has no items", name_of(value.kind())));
  }
  LB_RETURN_IF_ERROR(spend(items.size()));
  return items;
}

Result<Value> Run::attribute(const Value& object, std::string_view name) {
  const std::size_t count = object.is_dictionary()        ? object.as_members().size()
                            : object.is(Kind::kNamespace) ? object.as_namespace().members.size()
                                                          : 0;
  LB_RETURN_IF_ERROR(look_up(count, weight_of(name)));
  if (object.is_undefined()) return is_not_defined(object);
  if (object.is(Kind::kMarkup) || object.is(Kind::kCallable)) {
    return unsupported(
        fmt::format("the attribute {} of {} is not supported", core::quoted(name), name_of(object.kind())));
  }
  if (object.is(Kind::kLoop)) return loop_attribute(object.as_loop(), name);
  if (object.is(Kind::kNamespace)) {
    const auto& members = object.as_namespace().members;
    const auto found = std::ranges::find(members, name, [](const auto& one) { return std::string_view(one.first); });
    return found != members.end() ? found->second : Value::undefined(std::string(name));
  }
  if (const Function* const method = find_method(object.kind(), name)) return bound(*method, object);
  if (is_refused_attribute(object.kind(), name)) {
    return unsupported(fmt::format("{} of {} is not supported", core::quoted(name), name_of(object.kind())));
  }
  const Value* const member = object.find(name);
  return member != nullptr ? *member : Value::undefined(std::string(name));
}

Result<Value> Run::item(const Value& object, const Value& key) {
  if (object.is_dictionary()) LB_RETURN_IF_ERROR(look_up(object.as_members().size(), key.weight()));
  if (object.is_undefined()) return is_not_defined(object);
  if (object.is(Kind::kMarkup)) return unsupported("an item of a text that is marked as safe is not supported");
  if (const Value* const member = object.find(key)) return *member;
  const bool is_indexed = object.is_text() || (object.is_sequence() && !object.is(Kind::kView));
  if (is_indexed && key.is_integer()) {
    if (object.is_text()) {
      LB_RETURN_IF_ERROR(spend(object.as_text().size() / kBytesPerStep));
      const std::string& text = object.as_text();
      if (const auto index = index_in(count_code_points(text), key.as_integer())) {
        auto character = CodePoints(text).begin();
        for (std::size_t i = 0; i < *index; ++i)
          ++character;
        return Value::text(std::string(*character));
      }
    } else if (const auto index = index_in(object.as_items().size(), key.as_integer())) {
      return object.as_items()[*index];
    }
    return Value::undefined(fmt::format("item {}", key.as_integer()));
  }
  if (key.is_text()) return attribute(object, key.as_text());
  return Value::undefined("item");
}

Result<Value> Run::call(const Value& callable, const Arguments& given) {
  if (callable.is_undefined()) return is_not_defined(callable);
  if (!callable.is(Kind::kCallable)) return invalid(fmt::format("{} cannot be called", name_of(callable.kind())));
  const Callable& called = callable.as_callable();
  if (called.macro != nullptr) return call_macro(called, given);
  if (called.self.is_text()) LB_RETURN_IF_ERROR(spend_on(called.self));
  return called.function->call(*this, called.self, given);
}

Result<Items> bind(std::string_view what, const Arguments& given, std::initializer_list<std::string_view> parameters) {
  if (given.positional.size() > parameters.size()) {
    return invalid(
        fmt::format("{} takes at most {} arguments, not {}", what, parameters.size(), given.positional.size()));
  }
  Items bound = given.positional;
  bound.resize(parameters.size());
  for (const auto& [name, value] : given.named) {
    const auto* const found = std::ranges::find(parameters, name);
    if (found == parameters.end()) {
      return unsupported(fmt::format("the argument {} of {} is not supported", core::quoted(name), what));
    }
    const auto position = static_cast<std::size_t>(found - parameters.begin());
    if (position < given.positional.size()) {
      return invalid(fmt::format("{} has two arguments {}", what, core::quoted(name)));
    }
    bound[position] = value;
  }
  return bound;
}

Status invalid(std::string text) {
  return {StatusCode::kInvalidModel, std::move(text)};
}

Status unsupported(std::string text) {
  return {StatusCode::kUnsupported, std::move(text)};
}

Status is_not_defined(const Value& value) {
  const std::string& name = value.as_text();
  return invalid(name.empty() ? "a value is not defined" : fmt::format("{} is not defined", core::quoted(name)));
}

}  // namespace latebind::templates
