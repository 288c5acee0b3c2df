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
  kList,       // of `parts`
  kTuple,      // of `parts`
  kDict,       // keys and values by turns in `parts`
  kAttribute,  // `name` of the one part
  kItem,       // of the first part, by the second
  kSlice,      // of the first part: begin, end and step, each of which may be null
  kCall,       // of the one part, with `arguments`
  kFilter,     // `name` applied to the one part, with `arguments`
  kTest,       // likewise
  kNot,
  kNegative,
  kPositive,
  kAnd,
  kOr,
  kBinary,     // `operators.front()` of two parts
  kCompare,    // `operators` between the parts
  kConcat,     // the texts of all parts
  kCondition,  // the first part if the second holds, else the third, which may be null
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

// An argument of a call; without a name, it is given by its position.
struct GivenArgument {
  std::string name{};
  ExpressionPtr value{};
};

struct Expression {
  ExpressionKind kind{};
  std::size_t line = 1;
  std::size_t height = 1;  // of the tree from here down
  Value constant{};
  std::string name{};
  std::vector<Operator> operators{};
  std::vector<ExpressionPtr> parts{};
  std::vector<GivenArgument> arguments{};
};

// What a value is assigned to: a name, an attribute of a namespace, or several names.
struct Target {
  std::string name{};
  std::string attribute{};
  std::vector<Target> parts{};
};

struct Statement;
using Body = std::vector<Statement>;

// The name by which the filters of a block that is assigned call its text. No template can have it.
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
  kSet,       // `target` to `expression`
  kSetBlock,  // `target` to the text of the body, after filters that take kConstant of `expression`
  kMacro,     // `text` with `parameters`
  kScope,     // the body, whose names end with it
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
  std::vector<Branch> branches{};  // of all but kIf, the body is in the first
};

}  // namespace latebind::templates
