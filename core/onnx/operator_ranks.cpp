// How many dimensions operators of ONNX give.
#include <algorithm>
#include <array>

#include "core/onnx/value_range.h"

namespace latebind::onnx {
namespace {

using Inputs = std::span<const ValueRange* const>;
using Rank = std::optional<std::size_t>;

// As many as their first input.
constexpr std::array<std::string_view, 81> kRankOfFirst{"Abs",
                                                        "Acos",
                                                        "Acosh",
                                                        "Asin",
                                                        "Asinh",
                                                        "Atan",
                                                        "Atanh",
                                                        "AveragePool",
                                                        "BatchNormalization",
                                                        "BitwiseNot",
                                                        "Cast",
                                                        "CastLike",
                                                        "Ceil",
                                                        "Celu",
                                                        "Clip",
                                                        "Concat",
                                                        "Conv",
                                                        "ConvInteger",
                                                        "ConvTranspose",
                                                        "Cos",
                                                        "Cosh",
                                                        "CumSum",
                                                        "DepthToSpace",
                                                        "DequantizeLinear",
                                                        "Dropout",
                                                        "Elu",
                                                        "Erf",
                                                        "Exp",
                                                        "Floor",
                                                        "GatherElements",
                                                        "Gelu",
                                                        "GlobalAveragePool",
                                                        "GlobalMaxPool",
                                                        "GroupNormalization",
                                                        "HardSigmoid",
                                                        "HardSwish",
                                                        "Hardmax",
                                                        "Identity",
                                                        "InstanceNormalization",
                                                        "IsInf",
                                                        "IsNaN",
                                                        "LRN",
                                                        "LayerNormalization",
                                                        "LeakyRelu",
                                                        "Log",
                                                        "LogSoftmax",
                                                        "MaxPool",
                                                        "Mish",
                                                        "Neg",
                                                        "Not",
                                                        "PRelu",
                                                        "Pad",
                                                        "QuantizeLinear",
                                                        "RMSNormalization",
                                                        "Reciprocal",
                                                        "Relu",
                                                        "Resize",
                                                        "ReverseSequence",
                                                        "Round",
                                                        "ScatterElements",
                                                        "ScatterND",
                                                        "Selu",
                                                        "Shrink",
                                                        "Sigmoid",
                                                        "Sign",
                                                        "Sin",
                                                        "Sinh",
                                                        "Slice",
                                                        "Softmax",
                                                        "Softplus",
                                                        "Softsign",
                                                        "SpaceToDepth",
                                                        "Split",
                                                        "Sqrt",
                                                        "Swish",
                                                        "Tan",
                                                        "Tanh",
                                                        "Tile",
                                                        "TopK",
                                                        "Transpose",
                                                        "Trilu"};
// As many as the input that has most.
constexpr std::array<std::string_view, 23> kRankOfMost{
    "Add",        "And",         "BitShift", "BitwiseAnd", "BitwiseOr",
    "BitwiseXor", "Div",         "Equal",    "Greater",    "GreaterOrEqual",
    "Less",       "LessOrEqual", "Max",      "Mean",       "Min",
    "Mod",        "Mul",         "Or",       "Pow",        "Sub",
    "Sum",        "Where",       "Xor"};

bool is_one_in(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

Rank rank_at(Inputs inputs, std::size_t place) {
  return place < inputs.size() && inputs[place] != nullptr ? inputs[place]->dimensions() : std::nullopt;
}

// The elements of an input that is a list.
Rank length_at(Inputs inputs, std::size_t place) {
  if (place >= inputs.size() || inputs[place] == nullptr) return std::nullopt;
  const ValueRange& list = *inputs[place];
  if (!list.has_shape || list.shape.size() != 1 || list.shape[0] < 0) return std::nullopt;
  return static_cast<std::size_t>(list.shape[0]);
}

// Of axes that an attribute or an input has.
Rank axes_of(const Node& node, Inputs inputs) {
  const Attribute* axes = node.find("axes");
  if (axes == nullptr) return length_at(inputs, 1);
  if (axes->tensor && axes->tensor->shape.size() == 1) return static_cast<std::size_t>(axes->tensor->shape[0]);
  if (axes->text.empty()) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::count(axes->text, ',')) + 1;
}

Rank more_by(Rank rank, Rank more) {
  return rank && more ? Rank(*rank + *more) : std::nullopt;
}

Rank fewer_by(Rank rank, Rank fewer) {
  return rank && fewer && *fewer <= *rank ? Rank(*rank - *fewer) : std::nullopt;
}

Rank rank_reduced(const Node& node, Inputs inputs, bool is_of_one_axis) {
  const Rank rank = rank_at(inputs, 0);
  const Attribute* keeps = node.find("keepdims");
  if (keeps == nullptr || !keeps->integer || *keeps->integer != 0) return rank;
  if (is_of_one_axis) return fewer_by(rank, 1);
  const bool has_axes = node.find("axes") != nullptr || node.has_input(1);
  if (has_axes) return fewer_by(rank, axes_of(node, inputs));
  const Attribute* none = node.find("noop_with_empty_axes");
  return none != nullptr && none->integer.value_or(0) != 0 ? rank : Rank(0);
}

Rank of_product(Rank a, Rank b) {
  if (!a || !b) return std::nullopt;
  const std::size_t most = std::max(*a, *b);
  const std::size_t vectors = (*a == 1 ? 1U : 0U) + (*b == 1 ? 1U : 0U);
  return vectors == 2 ? 0 : most - vectors;
}

Rank most_of(Inputs inputs) {
  Rank most = 0;
  for (const ValueRange* input : inputs) {
    const Rank rank = input != nullptr ? input->dimensions() : std::nullopt;
    if (!rank) return std::nullopt;
    most = std::max(most, rank);
  }
  return most;
}

}  // namespace

Rank rank_after(const Node& node, Inputs inputs) {
  const std::string_view op = node.op;
  if (is_one_in(op, kRankOfFirst)) return rank_at(inputs, 0);
  if (op == "Expand") {
    const Rank rank = rank_at(inputs, 0);
    const Rank wanted = length_at(inputs, 1);
    return rank && wanted ? Rank(std::max(*rank, *wanted)) : std::nullopt;
  }
  if (is_one_in(op, kRankOfMost)) return most_of(inputs);
  if (op.starts_with("Reduce")) return rank_reduced(node, inputs, false);
  if (op == "ArgMax" || op == "ArgMin") return rank_reduced(node, inputs, true);
  if (op == "MatMul" || op == "MatMulInteger") return of_product(rank_at(inputs, 0), rank_at(inputs, 1));
  if (op == "Reshape") return length_at(inputs, 1);
  if (op == "ConstantOfShape") return length_at(inputs, 0);
  if (op == "Unsqueeze") return more_by(rank_at(inputs, 0), axes_of(node, inputs));
  if (op == "Squeeze") return fewer_by(rank_at(inputs, 0), axes_of(node, inputs));
  if (op == "Gather") return fewer_by(more_by(rank_at(inputs, 0), rank_at(inputs, 1)), 1);
  if (op == "OneHot") return more_by(rank_at(inputs, 0), 1);
  if (op == "Compress") return node.find("axis") != nullptr ? rank_at(inputs, 0) : Rank(1);
  if (op == "Size") return 0;
  if (op == "Shape" || op == "Range") return 1;
  if (op == "Flatten" || op == "Gemm" || op == "NonZero") return 2;
  return std::nullopt;
}

}  // namespace latebind::onnx
