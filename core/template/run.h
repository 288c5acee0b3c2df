// Run: one rendering of a template. It evaluates statements and expressions, and enforces the limits.
//
// For one thread. A Run and the values of its template live no longer than the call of Template::render() that made
// them. All its functions return kInvalidModel for an operation that the values do not allow, kUnsupported for a
// construct that Latebind does not support, and kTextTooLong beyond the limits.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/template/nesting.h"
#include "core/template/syntax.h"
#include "core/template/template.h"
#include "core/template/value.h"

namespace latebind::templates {

class Run;

// The variables of a block. find() also searches the enclosing blocks.
struct Scope {
  const Scope* parent = nullptr;
  std::vector<std::pair<std::string, Value>> names{};

  [[nodiscard]] const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

struct Arguments {
  Items positional{};
  std::vector<std::pair<std::string, Value>> named{};
};

// A filter or a method, which is called with the value it applies to as `self`, or a global function, whose `self` is
// undefined.
struct Function {
  std::string_view name;
  core::Result<Value> (*call)(Run& run, const Value& self, const Arguments& given) = nullptr;
};
struct Test {
  std::string_view name;
  core::Result<bool> (*holds)(Run& run, const Value& self, const Arguments& given) = nullptr;
};

struct Callable {
  // For a macro: its statement, and the scope in which it was defined, which outlives it.
  const Statement* macro = nullptr;
  const Scope* scope = nullptr;
  // Otherwise: a global function, or a method and its object.
  const Function* function = nullptr;
  Value self{};
};

struct LoopState {
  const Items& items;
  std::size_t index = 0;
  // The arguments of the last call of loop.changed().
  Items compared{};
  bool has_compared = false;
};

class Run {
 public:
  Run(const Limits& limits, const Clock& now) : limits_(limits), now_(now), nesting_(limits.depth) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Appends the text of the statements to `out`.
  [[nodiscard]] core::Status render(const Body& statements, Scope& scope, std::string& out);
  [[nodiscard]] core::Result<Value> evaluate(const Expression& expression, const Scope& scope);

  // Calls a macro, a function or a method.
  [[nodiscard]] core::Result<Value> call(const Value& callable, const Arguments& given);
  // Return object.name and object[key], or undefined if the object has no such member.
  [[nodiscard]] core::Result<Value> attribute(const Value& object, std::string_view name);
  [[nodiscard]] core::Result<Value> item(const Value& object, const Value& key);
  // Returns the items that a loop over the value visits. An iterator is empty afterwards.
  [[nodiscard]] core::Result<Items> items_of(const Value& value);

  // Counts `steps` against Limits::steps.
  [[nodiscard]] core::Status spend(std::size_t steps);
  // Return a text, list, iterator or dictionary as a value. They reject one beyond the limits, and items that do
  // not outlive their block (macros, `loop` and namespaces).
  [[nodiscard]] core::Result<Value> text(std::string text);
  [[nodiscard]] core::Result<Value> list(Items items, Kind kind = Kind::kList);
  [[nodiscard]] core::Result<Value> iterator(Items items);
  [[nodiscard]] core::Result<Value> dictionary(Members members);
  [[nodiscard]] core::Status check_size(std::size_t bytes);
  // Appends a text, within the limits.
  [[nodiscard]] core::Status append(std::string_view text, std::string& out);
  [[nodiscard]] core::Status check_items(const Items& items);
  // Refuses a key that is neither text, a number nor none.
  [[nodiscard]] static core::Status check_key(const Value& key);
  // Refuses a list or dictionary that is nested too deeply, or that would take too many steps to traverse.
  [[nodiscard]] core::Status check_whole(const Value& value) const;
  // Returns whether two values are equal. Looking up the members of a dictionary costs steps.
  [[nodiscard]] core::Result<bool> are_equal(const Value& a, const Value& b);
  [[nodiscard]] core::Result<bool> are_equal(const Items& a, const Items& b);
  // Counts the steps of traversing the whole value.
  [[nodiscard]] core::Status spend_on(const Value& value) { return spend(value.weight()); }
  // Counts the steps of handling each character of a text of this size on its own.
  [[nodiscard]] core::Status spend_on_characters(std::size_t bytes);
  // Counts the steps of looking for a part in a text, at worst at each position: both arguments are sizes in bytes.
  [[nodiscard]] core::Status search(std::size_t text, std::size_t part);
  // Counts the steps of looking for each character of a text in a set of characters.
  [[nodiscard]] core::Status search_set(std::size_t text, std::size_t set);
  // Counts the steps of comparing a key of this weight with the keys of `count` members.
  [[nodiscard]] core::Status look_up(std::size_t count, std::size_t key_weight);

  [[nodiscard]] const Clock& now() const { return now_; }

 private:
  enum class Flow : std::uint8_t { kNext, kBreak, kContinue };

  [[nodiscard]] core::Status check_nesting() const;
  [[nodiscard]] core::Result<Flow> render_body(const Body& statements, Scope& scope, std::string& out);
  [[nodiscard]] core::Result<Flow> render_one(const Statement& statement, Scope& scope, std::string& out);
  [[nodiscard]] core::Result<Flow> render_for(const Statement& loop, Scope& scope, std::string& out);
  [[nodiscard]] core::Result<Items> looped_items(const Statement& loop, const Scope& scope);
  [[nodiscard]] core::Status set_block(const Statement& block, Scope& scope);
  [[nodiscard]] core::Status assign(const Target& target, Value value, Scope& scope);
  [[nodiscard]] core::Status print(const Value& value, std::string& out);

  [[nodiscard]] core::Result<Value> compute(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> name(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> list_of(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> dictionary_of(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> slice(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> call_of(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> filter(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> test(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> compare_all(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> concatenate(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Arguments> evaluate_arguments(const Expression& expression, const Scope& scope);
  [[nodiscard]] core::Result<Value> call_macro(const Callable& callable, const Arguments& given);

  const Limits& limits_;
  const Clock& now_;
  std::size_t steps_ = 0;
  Nesting nesting_;
};

// Returns the arguments in the order of `parameters`; an argument that is not given is undefined. `what` names the
// function in messages. Returns kInvalidModel for surplus arguments, and kUnsupported for unknown ones.
[[nodiscard]] core::Result<Items> bind(std::string_view what, const Arguments& given,
                                       std::initializer_list<std::string_view> parameters);

// Return an error that the values of a template cause (kInvalidModel), and one for a construct that Latebind does not
// support (kUnsupported).
[[nodiscard]] core::Status invalid(std::string text);
[[nodiscard]] core::Status unsupported(std::string text);
// Returns the error for the use of an undefined value.
[[nodiscard]] core::Status is_not_defined(const Value& value);

}  // namespace latebind::templates
