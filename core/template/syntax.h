// The syntax tree of a template. Immutable after parsing; any thread may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/template/value.h"

namespace latebind::templates {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

enum class ExpressionKind : std::uint8_t {
  kConstant,   // `constant`
  kName,       // `name`
  kList,       // its items are `parts`
  kTuple,      // likewise
  kDict,       // `parts` has keys and values alternately
  kAttribute,  // the attribute `name` of the one part
  kItem,       // the item of the first part at the second one
  kSlice,      // a slice of the first part; the other parts are begin, end and step, and each may be null
  kCall,       // calls the one part with `arguments`
  kFilter,     // `name` applied to the one part, with `arguments`
  kTest,       // the test `name` of the one part, with `arguments`
  kNot,
  kNegative,
  kPositive,
  kAnd,
  kOr,
  kBinary,     // `operators.front()` applied to two parts
  kCompare,    // a chain of comparisons, with `operators` between the parts
  kConcat,     // joins the texts of all parts
  kCondition,  // the first part if the second one is true, otherwise the third one, which may be null
};

enum class Operator : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kNotIn,
};

// An argument of a call. It is positional if `name` is empty.
struct GivenArgument {
  std::string name{};
  ExpressionPtr value{};
};

struct Expression {
  ExpressionKind kind{};
  std::size_t line = 1;
  std::size_t height = 1;  // the height of this subtree
  Value constant{};
  std::string name{};
  std::vector<Operator> operators{};
  std::vector<ExpressionPtr> parts{};
  std::vector<GivenArgument> arguments{};
};

// The target of an assignment: a name, an attribute of a namespace, or several targets.
struct Target {
  std::string name{};
  std::string attribute{};
  std::vector<Target> parts{};
};

struct Statement;
using Body = std::vector<Statement>;

// The name of a block's text inside the filters of "{% set x | filter %}". No template can use this name.
inline constexpr const char* kBlockText = "(block)";

struct Branch {
  ExpressionPtr condition;  // null for "else"
  Body body;
};
struct Parameter {
  std::string name{};
  ExpressionPtr otherwise{};  // null if it has no default
};

enum class StatementKind : std::uint8_t {
  kText,      // `text`
  kPrint,     // `expression`
  kIf,        // `branches`
  kFor,       // `target` in `expression`, if `condition`; the second branch is "else"
  kSet,       // assigns `expression` to `target`
  kSetBlock,  // assigns the text of the body to `target`, after the filters in `expression` (see kBlockText)
  kMacro,     // defines the macro `text` with `parameters`
  kScope,     // runs the body; its variables end with it
  kBreak,
  kContinue,
};

struct Statement {
  StatementKind kind{};
  std::size_t line = 1;
  std::string text{};
  ExpressionPtr expression{};
  ExpressionPtr condition{};
  Target target{};
  std::vector<Parameter> parameters{};
  std::vector<Branch> branches{};  // except for kIf, the first one has the body
};

}  // namespace latebind::templates
