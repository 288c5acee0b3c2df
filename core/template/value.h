// Value: a value of a template: a text, a number, a list, a dictionary, or an object of a run, such as a macro.
//
// Copies share their content, which is immutable except for namespaces and iterators. A value that a run made must stay
// on the run's thread and end with it; any thread may read other values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/json/value.h"

namespace latebind::templates {

class Value;
struct Callable;
struct Dictionary;
struct Iterator;
struct LoopState;
struct Namespace;
struct Sequence;

enum class Kind : std::uint8_t {
  kUndefined,  // a name without a value; its text is empty
  kNone,
  kBoolean,
  kInteger,
  kFloat,
  kText,
  kMarkup,  // text that a filter marked as escaped; it can only be printed
  kList,
  kTuple,
  kRange,
  kView,      // the keys, values or items of a dictionary
  kIterator,  // a list that can be read once
  kDict,
  kNamespace,
  kLoop,      // the variable `loop`
  kCallable,  // a macro, a function or a method
};

using Items = std::vector<Value>;
// The members of a dictionary, in their order.
using Members = std::vector<std::pair<Value, Value>>;

class Value {
 public:
  // Constructs the undefined value.
  Value() = default;
  // Returns an undefined value; `name` is for messages.
  [[nodiscard]] static Value undefined(std::string name);
  [[nodiscard]] static Value none();
  [[nodiscard]] static Value boolean(bool truth);
  [[nodiscard]] static Value integer(std::int64_t number);
  [[nodiscard]] static Value number(double number);
  [[nodiscard]] static Value text(std::string text);
  [[nodiscard]] static Value markup(std::string text);
  // `kind` is kList, kTuple, kRange or kView.
  [[nodiscard]] static Value sequence(Items items, Kind kind = Kind::kList);
  [[nodiscard]] static Value iterator(Items items);
  [[nodiscard]] static Value dictionary(Members members);
  [[nodiscard]] static Value name_space(std::shared_ptr<Namespace> members);
  [[nodiscard]] static Value loop(LoopState* state);
  [[nodiscard]] static Value callable(std::shared_ptr<const Callable> callable);
  [[nodiscard]] static Value of(const core::Json& json);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] bool is_undefined() const { return kind_ == Kind::kUndefined; }
  [[nodiscard]] bool is_text() const { return kind_ == Kind::kText; }
  [[nodiscard]] bool is_dictionary() const { return kind_ == Kind::kDict; }
  [[nodiscard]] bool is_integer() const { return kind_ == Kind::kInteger || kind_ == Kind::kBoolean; }
  [[nodiscard]] bool is_number() const { return is_integer() || kind_ == Kind::kFloat; }
  // Returns whether this is a list, tuple, range or view.
  [[nodiscard]] bool is_sequence() const { return kind_ >= Kind::kList && kind_ <= Kind::kView; }

  // The following require a value of their kind, except where a comment lists more kinds.
  [[nodiscard]] bool as_boolean() const { return std::get<bool>(content_); }
  // Integers, and booleans as 0 or 1.
  [[nodiscard]] std::int64_t as_integer() const;
  // All numbers.
  [[nodiscard]] double as_double() const;
  // Text, markup, and the name of an undefined value.
  [[nodiscard]] const std::string& as_text() const;
  [[nodiscard]] const Items& as_items() const;
  [[nodiscard]] const Members& as_members() const;
  [[nodiscard]] Iterator& as_iterator() const;
  [[nodiscard]] Namespace& as_namespace() const;
  [[nodiscard]] LoopState& as_loop() const;
  [[nodiscard]] const Callable& as_callable() const;

  // Returns the depth of nested lists and dictionaries; 0 for other values.
  [[nodiscard]] std::size_t depth() const;
  // Returns the steps of traversing the whole value: one for each value in it, counted each time it is reached, and one
  // for every 64 bytes of text.
  [[nodiscard]] std::size_t weight() const;
  // Returns the member with this key, or null if the dictionary lacks it or this is not a dictionary.
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] const Value* find(const Value& key) const;

 private:
  using Content =
      std::variant<std::monostate, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const Sequence>, std::shared_ptr<const Dictionary>, std::shared_ptr<Iterator>,
                   std::shared_ptr<Namespace>, LoopState*, std::shared_ptr<const Callable>>;
  Value(Kind kind, Content content) : kind_(kind), content_(std::move(content)) {}

  Kind kind_ = Kind::kUndefined;
  Content content_{};
};

struct Sequence {
  Items items{};
  std::size_t weight = 1;  // see Value::weight()
  std::size_t depth = 1;   // see Value::depth()
};
struct Dictionary {
  Members members{};
  std::size_t weight = 1;
  std::size_t depth = 1;
};
struct Iterator {
  Items items{};
  std::size_t next = 0;
};
struct Namespace {
  std::vector<std::pair<std::string, Value>> members{};
};

// Returns the weight of a text; see Value::weight().
[[nodiscard]] std::size_t weight_of(std::string_view text);
// Returns the name of a kind in messages: "text", "a list".
[[nodiscard]] std::string_view name_of(Kind kind);
// Returns whether the value is true in a condition.
[[nodiscard]] bool is_true(const Value& value);
// Compares values that are neither sequences nor dictionaries; Run::are_equal() compares all values.
[[nodiscard]] bool is_same_scalar(const Value& a, const Value& b);

}  // namespace latebind::templates
