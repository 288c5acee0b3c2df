#include "core/onnx/known_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace latebind::onnx {
namespace {

using core::ElementType;

using ConditionKind = KnownErrors::ConditionKind;

// Returns the dimension of `data` that the attribute names, or -1.
std::int64_t axis_of(const Node& node, const ValueRange& data, std::int64_t otherwise) {
  const Attribute* axis = node.find("axis");
  std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : otherwise;
  const auto rank = static_cast<std::int64_t>(data.shape.size());
  if (place < 0) place += rank;
  return place < rank ? place : -1;
}

// Whether a Compress may have more conditions than its data has elements.
bool may_choose_outside(const Node& node, const ValueRange& data, const ValueRange& condition) {
  if (!data.has_shape || !condition.has_shape || condition.shape.size() != 1 || condition.shape[0] < 0) return true;
  double size = 1;
  if (node.find("axis") == nullptr) {
    for (const std::int64_t dimension : data.shape)
      size *= static_cast<double>(dimension < 0 ? 0 : dimension);
  } else {
    const std::int64_t place = axis_of(node, data, 0);
    size = place < 0 ? 0 : static_cast<double>(data.shape[static_cast<std::size_t>(place)]);
  }
  return static_cast<double>(condition.shape[0]) > size;
}

// Whether an index may be outside of the data. Sizes are assumed to be valid indices, and so are the places that ArgMax
// and others find in tensors of unknown sizes.
bool may_be_outside(const KnownErrors::Case& one) {
  if (one.inputs.size() < 2 || one.inputs[0] == nullptr || one.inputs[1] == nullptr) return false;
  const ValueRange& data = *one.inputs[0];
  const ValueRange& index = *one.inputs[1];
  if (one.node.op == "Compress") return may_choose_outside(one.node, data, index);
  if (index.is_size && index.is_assumed) return false;
  if (!data.has_shape || data.shape.empty()) return !index.is_size;
  if (one.node.op == "GatherND") {
    if (index.is_size) return false;
    // The dimensions that the indices refer to depend on the number of indices.
    const std::int64_t least = *std::ranges::min_element(data.shape);
    return least < 0 || index.low < static_cast<double>(-least) || index.high > static_cast<double>(least - 1);
  }
  const std::int64_t place = axis_of(one.node, data, 0);
  if (place < 0) return true;
  const std::int64_t size = data.shape[static_cast<std::size_t>(place)];
  if (size < 0) return !index.is_size;
  return index.low < static_cast<double>(-size) || index.high > static_cast<double>(size - 1);
}

bool takes_limits(std::string_view op) {
  static constexpr std::array<std::string_view, 6> kTakeLimits{"Clip", "Expand", "Pad", "Reshape", "Slice", "TopK"};
  return std::ranges::find(kTakeLimits, op) != kTakeLimits.end();
}

bool may_wrap(const ValueRange& range) {
  return !is_float(range.type) && range.type != ElementType::kBool && !(range.is_size && is_wide(range.type)) &&
         (range.exact_low < lowest_of(range.type) || range.exact_high > highest_of(range.type));
}

// Whether an integer among the inputs or the exact results may be outside of these limits.
bool may_be_beyond(double low, double high, const KnownErrors::Case& one) {
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const ValueRange* range = one.inputs[i];
    if (range == nullptr || !is_wide(range->type)) continue;
    // The largest number means "all" if it is a limit.
    if (one.constants[i] ? i > 0 && takes_limits(one.node.op) : range->is_size) continue;
    if (range->low < low || range->high > high) return true;
  }
  return std::ranges::any_of(one.outputs, [&](const ValueRange& range) {
    return is_wide(range.type) && !range.is_size && (range.exact_low < low || range.exact_high > high);
  });
}

// Whether there may be more than one element.
bool may_be_many(const ValueRange& range) {
  const auto is_one = [](std::int64_t size) { return size == 0 || size == 1; };
  return !range.has_shape || !std::ranges::all_of(range.shape, is_one);
}

// Whether a size is known only during a run.
bool is_open(const ValueRange& range) {
  return !range.may_be_folded && (!range.has_shape || std::ranges::find(range.shape, -1) != range.shape.end());
}

bool may_be(NumberKind kind, const KnownErrors::Case& one) {
  const auto any_input = [&](const auto& holds) {
    return std::ranges::any_of(one.inputs, [&](const ValueRange* range) { return range != nullptr && holds(*range); });
  };
  const auto any_float = [&](const auto& holds) {
    return any_input([&](const ValueRange& range) { return is_float(range.type) && holds(range); });
  };
  switch (kind) {
    case NumberKind::kNan:
      return any_float([](const ValueRange& range) { return range.may_be_nan; });
    case NumberKind::kInfinity:
      return any_float([](const ValueRange& range) { return range.high == kInfinite; });
    case NumberKind::kMinusInfinity:
      return any_float([](const ValueRange& range) { return range.low == -kInfinite; });
    case NumberKind::kSubnormal:
      return any_float([](const ValueRange& range) { return range.may_be_subnormal; });
    case NumberKind::kLarge:
      return any_float([](const ValueRange& range) { return range.largest() > 2'147'483'648.0; });
    case NumberKind::kHuge:
      return any_float([](const ValueRange& range) {
        return range.largest() > (range.type == ElementType::kF16 ? 16'384 : 1.2676506002282294e30);
      });
    case NumberKind::kEmpty:
      return any_input([](const ValueRange& range) { return range.may_be_empty; });
    case NumberKind::kOutside:
      return may_be_outside(one);
    case NumberKind::kWrap:
      return std::ranges::any_of(one.outputs, may_wrap);
    case NumberKind::kBeyond24:
      return may_be_beyond(-16'777'216.0, 16'777'216.0, one);
    case NumberKind::kBeyond31:
      return may_be_beyond(-2'147'483'648.0, 2'147'483'647.0, one);
  }
  return false;
}

bool all_are_constant(const KnownErrors::Case& one) {
  bool has_any = false;
  for (std::size_t i = 0; i < one.node.inputs.size(); ++i) {
    if (!one.node.has_input(i)) continue;
    if (!one.constants[i]) return false;
    has_any = true;
  }
  return has_any;
}

// Calls `found` for each of these operators, which are separated by |, until it returns true.
bool any_of_operators(std::string_view operators, const auto& found) {
  while (!operators.empty()) {
    const std::string_view op = operators.substr(0, operators.find('|'));
    operators.remove_prefix(std::min(op.size() + 1, operators.size()));
    if (found(op)) return true;
  }
  return false;
}

bool is_among(std::string_view op, std::string_view operators) {
  return any_of_operators(operators, [&](std::string_view other) { return other == op; });
}

// Whether another node of one of these operators takes the input as well.
bool is_beside(std::string_view operators, const Node& node, const Takers& takers, std::size_t place) {
  return any_of_operators(
      operators, [&](std::string_view op) { return takers.count(node.inputs[place], op) > (op == node.op ? 1U : 0U); });
}

bool holds(const KnownErrors::Condition& condition, const KnownErrors::Case& one) {
  const Node& node = one.node;
  if (condition.kind == ConditionKind::kConstant && condition.about == KnownErrors::kAll) return all_are_constant(one);
  if (condition.kind == ConditionKind::kRun && condition.about == KnownErrors::kAnyInput) return !all_are_constant(one);
  const std::size_t i = condition.place;
  const auto has_type = [&](const ValueRange& range) {
    return (condition.types & KnownErrors::bit_of(range.type)) != 0;
  };
  switch (condition.kind) {
    case ConditionKind::kMay:
      return may_be(condition.number_kind, one);
    case ConditionKind::kAttribute: {
      const Attribute* attribute = node.find(condition.about);
      return attribute != nullptr && (!condition.has_value || (attribute->text == condition.value) != condition.is_not);
    }
    case ConditionKind::kNoAttribute:
      return node.find(condition.about) == nullptr;
    case ConditionKind::kOpset:
      return node.opset == 0 || (node.opset >= condition.low && node.opset <= condition.high);
    case ConditionKind::kBefore:
      return std::ranges::any_of(node.outputs, [&](const std::string& name) {
        return one.followers.contains({name, condition.about});
      });
    case ConditionKind::kAfter: {
      if (!node.has_input(i)) return false;
      const auto maker = one.makers.find(node.inputs[i]);
      return maker != one.makers.end() && is_among(maker->second, condition.value);
    }
    case ConditionKind::kBeside:
      return node.has_input(i) && is_beside(condition.value, node, one.takers, i);
    case ConditionKind::kAny:
      return std::ranges::any_of(one.outputs, has_type) ||
             std::ranges::any_of(one.inputs,
                                 [&](const ValueRange* range) { return range != nullptr && has_type(*range); });
    case ConditionKind::kOutput:
      return i < node.outputs.size() && !node.outputs[i].empty();
    case ConditionKind::kInput:
      return node.has_input(i);
    case ConditionKind::kNoInput:
      return !node.has_input(i);
    default:
      break;
  }
  if (!node.has_input(i) || i >= one.inputs.size() || one.inputs[i] == nullptr) return false;
  const ValueRange& range = *one.inputs[i];
  switch (condition.kind) {
    case ConditionKind::kRun:
      return !one.constants[i];
    case ConditionKind::kConstant:
      return one.constants[i];
    case ConditionKind::kOdd:
      return range.low != range.high || std::fmod(range.low, 2) != 0;
    case ConditionKind::kType:
      return has_type(range);
    case ConditionKind::kMany:
      return may_be_many(range);
    case ConditionKind::kOpen:
      return !one.constants[i] && is_open(range);
    default: {
      auto rank = condition.rank;
      if (!rank && !one.outputs.empty()) rank = one.outputs[0].dimensions();
      return !rank || range.dimensions().value_or(*rank) == *rank;
    }
  }
}

}  // namespace

const KnownErrors::Rule* KnownErrors::met_by(const Case& one, const Rules& rules, std::string_view op) {
  const auto found = rules.find(op);
  if (found == rules.end()) return nullptr;
  for (const Rule& rule : found->second) {
    const auto is_met = [&](const Condition& condition) { return holds(condition, one); };
    if (std::ranges::all_of(rule.conditions, is_met)) return &rule;
  }
  return nullptr;
}

std::string KnownErrors::of(const Case& one) const {
  if (!one.node.domain.empty()) return {};
  const Rule* rule = met_by(one, rules_, one.node.op);
  if (rule == nullptr) rule = met_by(one, rules_, "*");
  if (rule != nullptr) {
    std::string kinds;
    for (const Condition& condition : rule->conditions) {
      if (condition.kind == ConditionKind::kMay)
        kinds += (kinds.empty() ? " of numbers such as " : ", ") + condition.about;
    }
    return fmt::format("is computed differently from ONNX by {}{}", rule->runtime, kinds);
  }
  for (const auto& [backend, taken] : taken_) {
    if (met_by(one, taken, one.node.op) == nullptr)
      return fmt::format("is not among the operators and types that {} is known to compute as ONNX defines them",
                         backend);
  }
  return {};
}

}  // namespace latebind::onnx
