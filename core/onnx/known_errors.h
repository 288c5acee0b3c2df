// KnownErrors: what a version of a vendor's library computes as ONNX defines it, and what it computes differently
// although it accepts the model.
//
// The table is data that a backend has for its vendor (Backend::known_errors()). A line has, separated by tabs,
// operators, the conditions on a node, and the vendor's version. '#' begins a comment. There are two kinds of lines:
//   +Add|Sub   nodes of these operators are taken if the conditions hold. If a version has such lines, every other node
//              is refused.
//   Add        nodes of this operator ('*': of any) are computed differently if the conditions hold, and are refused
//              even if they are taken otherwise. These lines are made by tests/onnx/find_known_errors.py, which tries
//              every operator, element type and kind of number.
// The conditions, separated by spaces:
//   attr:NAME  attr:NAME=VALUE  attr:NAME!=VALUE   the attribute is present; equals VALUE; has another value
//   no-attr:NAME                                   the attribute is absent
//   opset:LOW..HIGH                                the version of ONNX's operators is in this range or not known
//   in:I  no-in:I  out:I                           the input or output is given, or not
//   run:I  run:any                                 the input is known only during a run; any of them is
//   const:I  const:all                             the input is constant; all of them are
//   odd:I                                          the input may be other than an even number
//   type:I=f32|f16                                 the type of the input
//   rank:I=2  rank:I=out                           the rank of the input; equals that of the first output. Both hold
//   also
//                                                  if a rank is not known
//   many:I                                         the input may have more than one element
//   open:I                                         the input is known only during a run, and so is one of its sizes
//   any:f64                                        an input or output has this type
//   before:OP                                      a node of this operator takes one of the outputs
//   after:I=OP|OP                                  a node of one of these operators in the same graph makes the input
//   beside:I=OP|OP                                 another node of one of these operators takes the same numbers
//   may:KIND                                       numbers of this kind may reach the node (kNumberKinds); not in a
//                                                  line that begins with +
// Values are integers, texts, floating-point numbers as %g writes them, and lists of integers with commas. A line holds
// for the version that it names, and for all versions that no line names, because they have not been shown to be right.
// A line for "before 2026.4.1" holds for every older version.
//
// Constant after construction; may be used from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/onnx/network.h"
#include "core/onnx/takers.h"
#include "core/onnx/value_range.h"
#include "core/result.h"
#include "core/tensor/input_bound.h"

namespace latebind::onnx {

enum class NumberKind : std::uint8_t {
  kNan,
  kInfinity,
  kMinusInfinity,
  kSubnormal,  // below the smallest normal number
  kLarge,      // a floating-point number beyond 2^31
  kHuge,       // a floating-point number beyond 2^100, of f16 beyond 2^14
  kBeyond24,   // an integer beyond 2^24, among the inputs or the exact results
  kBeyond31,   // likewise, an integer that does not fit in 32 bits with a sign
  kWrap,       // an exact result that does not fit in the type of the output
  kOutside,    // an index that is outside of the first input
  kEmpty,      // a tensor without elements
};
// The names of the kinds in the table, in the same order.
inline constexpr std::array<std::string_view, 11> kNumberKinds{
    "nan", "inf", "minus-inf", "subnormal", "large", "huge", "beyond24", "beyond31", "wrap", "outside", "empty"};

class KnownErrors {
 public:
  KnownErrors() = default;
  // Reads the table and keeps the lines that hold for `runtimes`, such as "openvino 2026.4.1-…". kInvalidArgument names
  // the first line of `table` that is not valid; `where` is the table's name for messages.
  static core::Result<KnownErrors> read(std::string_view table, std::string_view where,
                                        std::span<const std::string> runtimes);

  [[nodiscard]] bool empty() const { return rules_.empty() && taken_.empty(); }

  // A node among its neighbours, with the ranges of its inputs (null when not given) and outputs.
  struct Case {
    const Node& node;
    std::span<const ValueRange* const> inputs;
    std::span<const bool> constants;  // of each input
    std::span<const ValueRange> outputs;
    const std::set<std::pair<std::string, std::string>>& followers;  // (a tensor, an operator that takes it)
    const std::map<std::string, std::string>& makers;                // the operator that makes a tensor
    const Takers& takers;                                            // only if looks_beside(node.op)
  };
  // Whether a line of this operator has the condition "beside".
  [[nodiscard]] bool looks_beside(std::string_view op) const { return beside_.contains(op); }
  // Returns why the node is refused, or "" if it is computed as ONNX defines it.
  [[nodiscard]] std::string of(const Case& one) const;

  // In the place of an input in the table.
  static constexpr std::string_view kAll = "all";
  static constexpr std::string_view kAnyInput = "any";
  // In the place of a rank.
  static constexpr std::string_view kOutput = "out";

  // In alphabetical order of their words in the table.
  enum class ConditionKind : std::uint8_t {
    kAfter,
    kAny,
    kAttribute,
    kBefore,
    kBeside,
    kConstant,
    kInput,
    kMany,
    kMay,
    kNoAttribute,
    kNoInput,
    kOdd,
    kOpen,
    kOpset,
    kOutput,
    kRank,
    kRun,
    kType
  };
  // A parsed condition, so that nodes are tested without parsing text. For "type:1=f32", `about` is "1", `place` is 1
  // and `value` is "f32".
  struct Condition {
    ConditionKind kind = ConditionKind::kAny;
    std::string about;
    std::string value;
    bool is_not = false;
    bool has_value = false;
    std::size_t place = 0;
    std::optional<std::size_t> rank{};  // for kRank; std::nullopt: that of the first output
    std::int64_t low = 0;               // for kOpset
    std::int64_t high = 0;
    std::uint32_t types = 0;      // for kAny and kType: a bit for each ElementType
    NumberKind number_kind = {};  // for kMay
  };
  // The bit of a type in Condition::types.
  static constexpr std::uint32_t bit_of(core::ElementType type) {
    return std::uint32_t{1} << static_cast<unsigned>(type);
  }

 private:
  struct Rule {
    std::string op;
    std::vector<Condition> conditions;
    std::string runtime;  // "openvino 2026.4.1", "openvino before 2026.4.1"
    bool takes = false;   // the line began with +
  };
  // Rules by operator, including "*", each list in the table's order.
  using Rules = std::map<std::string, std::vector<Rule>, std::less<>>;
  static core::Result<std::vector<Rule>> rules_in(std::string_view table, std::string_view where);
  [[nodiscard]] static const Rule* met_by(const Case& one, const Rules& rules, std::string_view op);

  Rules rules_;
  std::set<std::string, std::less<>> beside_;
  // By backend: what is taken, for the backends that have such lines.
  std::map<std::string, Rules, std::less<>> taken_;
};

struct KnownErrorReport {
  // Nodes of the model's own graph, by position, that are not computed as ONNX defines them for any input, and why.
  std::vector<std::pair<std::size_t, std::string>> nodes;
  // All other nodes are, within these bounds: one for each input that matters.
  std::vector<InputBound> bounds;
};

// Reports the known errors that concern the model. `left` has the positions of nodes of the model's own graph that
// another device computes. The outputs of those nodes, and of the nodes in the report, are treated as given by a
// caller.
[[nodiscard]] KnownErrorReport find_known_errors(const OnnxNetwork& model, const KnownErrors& errors,
                                                 const std::set<std::size_t>& left = {});

}  // namespace latebind::onnx
