// How operators of ONNX change the ranges of their inputs.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/onnx/operator_arithmetic.h"
#include "core/onnx/operator_layers.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using Inputs = std::span<const ValueRange* const>;

constexpr std::array<std::string_view, 32> kMoves{"AveragePool",
                                                  "CenterCropPad",
                                                  "Compress",
                                                  "DepthToSpace",
                                                  "Expand",
                                                  "Flatten",
                                                  "Gather",
                                                  "GatherElements",
                                                  "GatherND",
                                                  "GlobalAveragePool",
                                                  "GlobalMaxPool",
                                                  "Identity",
                                                  "MaxPool",
                                                  "MaxRoiPool",
                                                  "Optional",
                                                  "OptionalGetElement",
                                                  "ReduceMax",
                                                  "ReduceMean",
                                                  "ReduceMin",
                                                  "Reshape",
                                                  "ReverseSequence",
                                                  "Slice",
                                                  "SpaceToDepth",
                                                  "Split",
                                                  "SplitToSequence",
                                                  "Squeeze",
                                                  "Tile",
                                                  "TopK",
                                                  "Transpose",
                                                  "Trilu",
                                                  "Unique",
                                                  "Unsqueeze"};
// Those of the above that produce 0 where there is no input.
constexpr std::array<std::string_view, 5> kMoveAndFill{"AveragePool", "CenterCropPad", "Gather", "MaxRoiPool", "Trilu"};
// These may add infinities of both signs.
constexpr std::array<std::string_view, 3> kMeans{"AveragePool", "GlobalAveragePool", "ReduceMean"};
constexpr std::array<std::string_view, 14> kTruth{
    "And", "Equal", "Greater", "GreaterOrEqual",     "IsInf",       "IsNaN",         "Less", "LessOrEqual",
    "Not", "Or",    "Xor",     "OptionalHasElement", "StringEqual", "RegexFullMatch"};
constexpr std::array<std::string_view, 7> kIndices{"ArgMax",         "ArgMin", "NonMaxSuppression", "NonZero", "Shape",
                                                   "SequenceLength", "Size"};
// Those of kIndices whose numbers are places within the input.
constexpr std::array<std::string_view, 3> kPlaces{"ArgMax", "ArgMin", "NonZero"};
// Operators whose output type is not that of an input.
constexpr std::array<std::pair<std::string_view, ElementType>, 10> kTypes{{
    {"Bernoulli", ElementType::kF32},
    {"BlackmanWindow", ElementType::kF32},
    {"HammingWindow", ElementType::kF32},
    {"HannWindow", ElementType::kF32},
    {"ImageDecoder", ElementType::kU8},
    {"MelWeightMatrix", ElementType::kF32},
    {"Multinomial", ElementType::kI32},
    {"RandomNormal", ElementType::kF32},
    {"RandomUniform", ElementType::kF32},
    {"TfIdfVectorizer", ElementType::kF32},
}};
// The number of output elements depends on values that are known only in a run.
constexpr std::array<std::string_view, 4> kMayGiveNothing{"Compress", "NonMaxSuppression", "NonZero", "SequenceEmpty"};
// The same, unless the inputs after the first are sizes: a shape that is computed from the sizes of nonempty tensors
// has elements.
constexpr std::array<std::string_view, 8> kGiveNothingForZero{"CenterCropPad", "Expand", "OneHot", "Pad",
                                                              "Resize",        "Split",  "Tile",   "Upsample"};

bool is_in(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

bool any_given(Inputs inputs, const auto& holds) {
  return std::ranges::any_of(inputs, [&](const ValueRange* one) { return one != nullptr && holds(*one); });
}

bool all_given(Inputs inputs, const auto& holds) {
  return !inputs.empty() && !any_given(inputs, [&](const ValueRange& one) { return !holds(one); });
}

const ValueRange* given(Inputs inputs, std::size_t place) {
  return place < inputs.size() ? inputs[place] : nullptr;
}

ValueRange without_shape(ValueRange range) {
  range.has_shape = false;
  range.shape.clear();
  range.exact_low = range.low;
  range.exact_high = range.high;
  return range;
}

ValueRange clipped(const Node& node, Inputs inputs) {
  ValueRange made = without_shape(*inputs[0]);
  const auto limit = [&](std::size_t place, std::string_view name, const auto& chosen) {
    double low = number_of(node, name, 0);
    double high = low;
    if (const ValueRange* range = given(inputs, place)) {
      low = range->low;
      high = range->high;
      made.is_size = made.is_size && range->is_size;
      made.is_assumed = made.is_assumed || range->is_assumed;
      // NaN either limits nothing or is the result.
      if (range->may_be_nan) {
        made.may_be_nan = true;
        made.low = made.exact_low = std::min(made.low, chosen(made.low, low));
        made.high = made.exact_high = std::max(made.high, chosen(made.high, high));
        return;
      }
    } else if (const Attribute* attribute = node.find(name); attribute == nullptr || !attribute->number) {
      return;
    }
    made.low = made.exact_low = chosen(made.low, low);
    made.high = made.exact_high = chosen(made.high, high);
  };
  limit(1, "min", [](double a, double b) { return std::max(a, b); });
  limit(2, "max", [](double a, double b) { return std::min(a, b); });
  return made;
}

ValueRange constant(const Node& node) {
  const auto find = [&](std::string_view name) { return node.find(name); };
  for (const std::string_view name : {"value", "value_ints", "value_floats"}) {
    if (const Attribute* value = find(name); value != nullptr && value->tensor) return ValueRange::of(*value->tensor);
  }
  ValueRange made = ValueRange::any(find("value_ints") != nullptr ? ElementType::kI64 : ElementType::kF32);
  if (const Attribute* one = find("value_float"); one != nullptr && one->number && !std::isnan(*one->number))
    made = ValueRange::between(ElementType::kF32, *one->number, *one->number);
  if (const Attribute* one = find("value_int"); one != nullptr && one->integer) {
    const auto number = static_cast<double>(*one->integer);
    made = ValueRange::between(ElementType::kI64, number, number);
  }
  made.may_be_folded = true;
  made.may_be_empty = false;
  made.is_size = !made.may_be_nan && made.largest() <= kSizeMax;
  return made;
}

// A place of x, along an axis or of any dimension: a size where nobody knows how many there are.
ValueRange place_in(const ValueRange& x, const Node& node) {
  if (!x.has_shape || x.shape.empty()) return ValueRange::size();
  std::int64_t size = *std::ranges::max_element(x.shape);
  bool is_known = std::ranges::min(x.shape) >= 0;
  if (node.op != "NonZero") {
    const Attribute* axis = node.find("axis");
    std::int64_t place = axis != nullptr && axis->integer ? *axis->integer : 0;
    if (place < 0) place += static_cast<std::int64_t>(x.shape.size());
    if (place < 0 || place >= static_cast<std::int64_t>(x.shape.size())) return ValueRange::size();
    size = x.shape[static_cast<std::size_t>(place)];
    is_known = size >= 0;
  }
  if (!is_known || static_cast<double>(size) > kSizeMax) return ValueRange::size();
  ValueRange made = ValueRange::between(ElementType::kI64, 0, static_cast<double>(std::max<std::int64_t>(size - 1, 0)));
  made.is_size = true;
  return made;
}

ValueRange scattered(const ValueRange& x, const Node& node, Inputs inputs) {
  if (given(inputs, 2) == nullptr) return ValueRange::any(x.type);
  const ValueRange& updates = *inputs[2];
  const Attribute* how = node.find("reduction");
  if (how == nullptr || how->text == "none" || how->text == "max" || how->text == "min")
    return ValueRange::either(x, updates);
  if (how->text != "add") return ValueRange::made(x.type, {-kInfinite, kInfinite, true}, inputs);
  const double far = x.largest() + limit_product(updates.largest(), std::max(1.0, elements_of(updates)));
  return ValueRange::made(x.type, {-far, far, std::isinf(far)}, inputs);
}

ValueRange moved(const ValueRange& x, const Node& node, bool has_own_index) {
  // An index that is a constant of the model is assumed to be valid.
  const bool fills = is_in(node.op, kMoveAndFill) && !(node.op == "Gather" && has_own_index);
  ValueRange made = fills ? x.with(0, 0) : without_shape(x);
  if (is_in(node.op, kMeans)) made.may_be_nan = made.may_be_nan || (x.low == -kInfinite && x.high == kInfinite);
  const Attribute* dilations = node.find("dilations");
  const bool is_dilated = dilations != nullptr && dilations->text.find_first_not_of("1,") != std::string::npos;
  // The result for empty windows, which are beside the tensor, and for tensors without elements.
  if ((node.op == "MaxPool" && is_dilated) || (node.op == "ReduceMax" && x.may_be_empty))
    made = made.with(lowest_of(x.type), lowest_of(x.type));
  if (node.op == "ReduceMin" && x.may_be_empty) made = made.with(highest_of(x.type), highest_of(x.type));
  if (node.op == "ReduceMean" && x.may_be_empty) made.may_be_nan = is_float(x.type);
  if (made.may_be_nan) made.is_size = false;
  return made;
}

// For any number of inputs, which are combined in order.
std::optional<ValueRange> folded(const ValueRange& x, const Node& node, Inputs inputs) {
  if (inputs.size() == 1) return without_shape(x);
  ValueRange made = x;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    const auto step = binary_interval(node, made, *inputs[i]);
    if (!step) return std::nullopt;
    const std::array<const ValueRange*, 2> both{&made, inputs[i]};
    ValueRange next = ValueRange::made(x.type, *step, both);
    // Some implementations round after each step, and some once.
    if (is_float(x.type)) {
      next.low = std::min(next.low, step->low);
      next.high = std::max(next.high, step->high);
    }
    const bool chooses = node.op == "Max" || node.op == "Min" || node.op == "PRelu";
    next.may_be_subnormal = chooses && any_given(both, [](const ValueRange& one) { return one.may_be_subnormal; });
    next.may_be_folded = made.may_be_folded && inputs[i]->may_be_folded;
    made = std::move(next);
  }
  return made;
}

ValueRange first_output(const Node& node, Inputs inputs) {
  const std::string_view op = node.op;
  const ValueRange nothing = ValueRange::any(ElementType::kF32);
  const ValueRange& x = given(inputs, 0) != nullptr ? *inputs[0] : nothing;
  const auto either = [&](std::size_t a, std::size_t b) {
    const bool is_given = given(inputs, a) != nullptr && given(inputs, b) != nullptr;
    return is_given ? ValueRange::either(*inputs[a], *inputs[b]) : nothing;
  };
  if (op == "Constant") return constant(node);
  if (op == "ConstantOfShape") {
    const Attribute* value = node.find("value");
    if (value != nullptr && value->tensor) return without_shape(ValueRange::of(*value->tensor));
    ValueRange zero = ValueRange::between(ElementType::kF32, 0, 0);
    zero.is_size = true;
    return zero;
  }
  if (op == "Shape") {
    ValueRange made = ValueRange::size();
    if (!x.may_be_empty) made.low = made.exact_low = 1;
    return made;
  }
  if (is_in(op, kPlaces)) return place_in(x, node);
  if (is_in(op, kIndices)) return ValueRange::size();
  if (is_in(op, kTruth) || op == "EyeLike") {
    const ElementType type = op == "EyeLike" ? type_of_attribute(node, "dtype", x.type) : ElementType::kBool;
    ValueRange made = ValueRange::between(type, 0, 1);
    made.is_size = true;
    return made;
  }
  if (op == "Cast") return ValueRange::cast(x, type_of_attribute(node, "to", x.type));
  if (op == "CastLike") return ValueRange::cast(x, given(inputs, 1) != nullptr ? inputs[1]->type : x.type);
  if (op == "BitCast") return ValueRange::any(type_of_attribute(node, "to", x.type));
  if (op == "OneHot") return given(inputs, 2) != nullptr ? without_shape(*inputs[2]) : nothing;
  if (op == "Where") return either(1, 2);
  if (op == "TensorScatter") return either(0, 1);
  if (op == "Clip") return given(inputs, 0) != nullptr ? clipped(node, inputs) : nothing;
  if (op == "Concat" || op == "ConcatFromSequence" || op == "SequenceConstruct") {
    ValueRange made = without_shape(x);
    for (const ValueRange* input : inputs) {
      if (input != nullptr) made = ValueRange::either(made, *input);
    }
    return made;
  }
  if (op == "Pad") {
    if (given(inputs, 2) != nullptr) return either(0, 2);
    const double value = number_of(node, "value", 0);
    return x.with(value, value);
  }
  if (op == "ScatterElements" || op == "ScatterND" || op == "Scatter") return scattered(x, node, inputs);
  if (op == "Range") {
    if (given(inputs, 1) == nullptr) return ValueRange::any(x.type);
    return ValueRange::made(x.type, {std::min(x.low, inputs[1]->low), std::max(x.high, inputs[1]->high)}, inputs);
  }
  if (auto made = layer_range(node, x, inputs)) return *std::move(made);
  if (only_moves(op)) return moved(x, node, given(inputs, 1) != nullptr && inputs[1]->may_be_folded);
  if (op == "Dropout" && inputs.size() < 3) return without_shape(x);
  if (const auto made = unary_interval(node, x)) {
    constexpr std::array<std::string_view, 9> kKeep{"Abs",  "Celu", "Elu",    "LeakyRelu",      "Neg",
                                                    "Relu", "Selu", "Shrink", "ThresholdedRelu"};
    ValueRange range = ValueRange::made(x.type, *made, inputs.first(std::min<std::size_t>(inputs.size(), 1)));
    range.may_be_subnormal = x.may_be_subnormal && is_in(op, kKeep);
    return range;
  }
  if (const auto made = reduced_interval(node, x, given(inputs, 1))) {
    const bool counts_sizes = (op == "CumSum" || op == "ReduceSum") && x.is_size;
    ValueRange counted = x;  // the number of elements is a size, too
    counted.is_assumed = x.is_assumed || counts_sizes;
    const std::array<const ValueRange*, 1> input{&counted};
    return ValueRange::made(x.type, *made, given(inputs, 0) != nullptr ? Inputs(input) : Inputs());
  }
  const bool takes_any = op == "Sum" || op == "Mean" || op == "Max" || op == "Min";
  if (given(inputs, 0) != nullptr && (takes_any || (inputs.size() == 2 && inputs[1] != nullptr))) {
    if (auto made = folded(x, node, inputs)) return *std::move(made);
  }
  const auto* const typed = std::ranges::find(kTypes, op, &std::pair<std::string_view, ElementType>::first);
  const ElementType type = typed != kTypes.end() ? typed->second : x.type;
  return ValueRange::any(type_of_attribute(node, op.ends_with("Window") ? "output_datatype" : "dtype", type));
}

ValueRange other_output(const Node& node, Inputs inputs, const ValueRange& first, std::size_t place) {
  const std::string_view op = node.op;
  if (op == "TopK" || op == "Unique" || op == "MaxPool") return ValueRange::size();
  if (op == "Split" || ((op == "GRU" || op == "LSTM" || op == "RNN") && place == 1)) return first;
  if (op == "LSTM") {
    // The cells grow by at most 1 in each step.
    const double far = kSizeMax + (given(inputs, 6) != nullptr ? inputs[6]->largest() : 0);
    if (node.find("activations") != nullptr) return ValueRange::any(first.type);
    return ValueRange::made(first.type,
                            {-far, far, any_given(inputs, [](const ValueRange& one) { return one.may_be_infinite(); })},
                            inputs);
  }
  if (op == "DynamicQuantizeLinear") {
    if (place != 1) return ValueRange::between(ElementType::kU8, 0, 255);
    const double far = given(inputs, 0) != nullptr ? inputs[0]->largest() : kInfinite;
    return ValueRange::made(ElementType::kF32, {0, far, std::isinf(far)}, inputs);
  }
  if (op == "Dropout") return ValueRange::between(ElementType::kBool, 0, 1);
  return ValueRange::any(first.type);
}

bool may_give_nothing(const Node& node, Inputs inputs) {
  const std::string_view op = node.op;
  if (op == "Size" || op == "Constant") return false;
  // A scalar has no dimensions.
  if (op == "Shape") return given(inputs, 0) != nullptr && inputs[0]->dimensions() == 0U;
  if (any_given(inputs, [](const ValueRange& one) { return one.may_be_empty; }) || is_in(op, kMayGiveNothing))
    return true;
  if (op == "ConstantOfShape") return inputs.empty() || inputs[0] == nullptr || inputs[0]->low < 1;
  // A slice whose limits come only from sizes is assumed to be nonempty.
  if (op == "Range" || op == "Slice" || op == "TopK") {
    return any_given(inputs.subspan(op == "Range" || inputs.empty() ? 0 : 1),
                     [](const ValueRange& one) { return !one.is_size && !one.may_be_folded; });
  }
  if (op.starts_with("Random") || op.ends_with("Window")) return true;
  if (!is_in(op, kGiveNothingForZero) || inputs.empty()) return false;
  return any_given(inputs.subspan(1),
                   [](const ValueRange& one) { return is_float(one.type) ? !one.may_be_folded : !one.is_size; });
}

}  // namespace

bool only_moves(std::string_view op) {
  return is_in(op, kMoves);
}

std::vector<ValueRange> ranges_after(const Node& node, Inputs inputs) {
  std::vector<ValueRange> made;
  if (!node.domain.empty()) {
    const ElementType type = given(inputs, 0) != nullptr ? inputs[0]->type : ElementType::kF32;
    made.assign(node.outputs.size(), ValueRange::any(type));
    return made;
  }
  made.push_back(first_output(node, inputs));
  if (const auto far = bound_by_relation(node, inputs))
    made.front() = ValueRange::made(made.front().type, {-*far, *far}, inputs);
  while (made.size() < node.outputs.size())
    made.push_back(other_output(node, inputs, made.front(), made.size()));
  const bool may_be_empty = may_give_nothing(node, inputs);
  bool may_be_folded = all_given(inputs, [](const ValueRange& one) { return one.may_be_folded; });
  // Sizes that the model declares are known before a run.
  if ((node.op == "Shape" || node.op == "Size") && given(inputs, 0) != nullptr)
    may_be_folded = !inputs[0]->has_shape || std::ranges::find(inputs[0]->shape, -1) == inputs[0]->shape.end();
  for (ValueRange& one : made) {
    // A constant's numbers are there to be seen.
    if (node.op != "Constant") one.may_be_empty = may_be_empty;
    one.rank = {};
    one.may_be_folded = may_be_folded || node.op == "Constant";
    one.relation = {};
  }
  made.front().relation = relation_after(node, inputs);
  made.front().rank = rank_after(node, inputs);
  return made;
}

}  // namespace latebind::onnx
