// KnownErrors: what a vendor's version computes otherwise than ONNX says, though it takes the model.
//
// The table is data that a backend has for its vendor (Backend::known_errors()), made by
// tests/onnx/find_known_errors.py, which tries every operator, element type and kind of number. A line has an operator,
// or '*' for any, what must hold of a node, and the vendor's version in which it was seen, with tabs between; '#'
// begins a comment. The conditions, with spaces between:
//   attr:NAME  attr:NAME=VALUE  attr:NAME!=VALUE   the attribute is there, is this, is there and something else
//   no-attr:NAME                                   it is not there
//   opset:LOW..HIGH                                versions of ONNX's operators, both ends included, or not known
//   in:I  no-in:I  out:I                           the input or output is given
//   run:I  const:I  const:all                      the input is known in a run only; is constant; each of them is
//   odd:I                                          the input may be other than an even number
//   type:I=f32|f16                                 of the input
//   rank:I=2                                       the input has so many dimensions, or nobody knows how many
//   many:I                                         the input may have more than one element
//   any:f64                                        an input or output has this type
//   before:OP                                      an output of it goes into such a node
//   after:I=OP                                     the input comes from such a node of the same graph
//   may:KIND                                       numbers of this kind may get to it (kNumberKinds)
// Values are integers, texts, floating-point numbers as %g has them, and lists of integers with commas. A line holds in
// the version that it names and in those that no line names: nobody has shown that these are right. One of "before
// 2026.4.1" holds in every older version.
//
// Constant after construction; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/onnx/input_bound.h"
#include "core/onnx/network.h"
#include "core/onnx/value_range.h"
#include "core/result.h"

namespace latebind::onnx {

enum class NumberKind : std::uint8_t {
  kNan,
  kInfinity,
  kMinusInfinity,
  kSubnormal,  // below the smallest normal number
  kLarge,      // a floating-point number beyond 2^31
  kHuge,       // a floating-point number beyond 2^100, of f16 beyond 2^14
  kBeyond24,   // an integer beyond 2^24, among the inputs or the exact results
  kBeyond31,   // an integer that 32 bits with a sign do not hold, likewise
  kWrap,       // an exact result that the type of the output does not hold
  kOutside,    // an index that the first input does not have
  kEmpty,      // a tensor without elements
};
// As the table has them, in this order.
inline constexpr std::array<std::string_view, 11> kNumberKinds{
    "nan", "inf", "minus-inf", "subnormal", "large", "huge", "beyond24", "beyond31", "wrap", "outside", "empty"};

class KnownErrors {
 public:
  KnownErrors() = default;
  // `runtimes`: "openvino 2026.4.1-…": lines of other versions are left out. kInvalidArgument names the first line of
  // `table` that makes no sense; `where` stands for the table.
  static core::Result<KnownErrors> read(std::string_view table, std::string_view where,
                                        std::span<const std::string> runtimes);

  [[nodiscard]] bool empty() const { return rules_.empty(); }

  // A node among its neighbours, with the ranges of its inputs (null: not given) and outputs.
  struct Case {
    const Node& node;
    std::span<const ValueRange* const> inputs;
    std::span<const bool> constants;  // of each input
    std::span<const ValueRange> outputs;
    const std::set<std::pair<std::string, std::string>>& followers;  // (a tensor, an operator that takes it)
    const std::map<std::string, std::string>& makers;                // the operator that makes a tensor
  };
  // Why the node is not computed as ONNX says, "" when nothing is known against it.
  [[nodiscard]] std::string of(const Case& one) const;

  // In the order of their names.
  enum class ConditionKind : std::uint8_t {
    kAfter,
    kAny,
    kAttribute,
    kBefore,
    kConstant,
    kInput,
    kMany,
    kMay,
    kNoAttribute,
    kNoInput,
    kOdd,
    kOpset,
    kOutput,
    kRank,
    kRun,
    kType
  };
  // "type:1=f32" is about "1" or place 1, and wants "f32". What a node is asked is compared without reading text.
  struct Condition {
    ConditionKind kind = ConditionKind::kAny;
    std::string about;
    std::string value;
    bool is_not = false;
    bool has_value = false;
    std::size_t place = 0;
    std::size_t rank = 0;  // kRank
    std::int64_t low = 0;  // kOpset
    std::int64_t high = 0;
    std::uint32_t types = 0;      // kAny, kType: a bit for each ElementType
    NumberKind number_kind = {};  // kMay
  };

 private:
  struct Rule {
    std::string op;
    std::vector<Condition> conditions;
    std::string runtime;  // "openvino 2026.4.1", "openvino before 2026.4.1"
  };
  [[nodiscard]] const Rule* met_by(const Case& one, std::string_view op) const;

  // By operator, "*" among them; each in the table's order.
  std::map<std::string, std::vector<Rule>, std::less<>> rules_;
};

struct KnownErrorReport {
  // Nodes of the model's own graph by place, and why each is not computed as ONNX says, whatever a caller gives.
  std::vector<std::pair<std::size_t, std::string>> nodes;
  // All others are, where these hold: one for each input that matters.
  std::vector<InputBound> bounds;
};

// `left`: nodes of the model's own graph that somebody else computes, by place. What they and the nodes of the report
// make counts as given by a caller.
[[nodiscard]] KnownErrorReport find_known_errors(const OnnxNetwork& model, const KnownErrors& errors,
                                                 const std::set<std::size_t>& left = {});

}  // namespace latebind::onnx
