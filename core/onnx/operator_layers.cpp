#include "core/onnx/operator_layers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/graph/onnx_types.h"
#include "core/onnx/operator_arithmetic.h"

namespace latebind::onnx {
namespace {

using core::ElementType;
using Ranges = std::span<const ValueRange* const>;

constexpr std::array<std::string_view, 3> kRecurrent{"GRU", "LSTM", "RNN"};
// Layers with weights, and layers that make numbers ordinary: ordinary inputs give ordinary outputs.
constexpr std::array<std::string_view, 6> kLayers{
    "Attention", "BatchNormalization", "CausalConvWithState", "DeformConv", "LRN", "LinearAttention"};
constexpr std::array<std::string_view, 5> kNormalizations{"GroupNormalization", "InstanceNormalization",
                                                          "LayerNormalization", "MeanVarianceNormalization",
                                                          "RMSNormalization"};
constexpr std::array<std::string_view, 7> kProducts{"Conv", "ConvInteger", "ConvTranspose", "Einsum",
                                                    "Gemm", "MatMul",      "MatMulInteger"};

bool is_one_of(std::string_view op, auto const& list) {
  return std::ranges::find(list, op) != list.end();
}

const ValueRange* input_at(Ranges inputs, std::size_t place) {
  return place < inputs.size() ? inputs[place] : nullptr;
}

bool any_is_infinite(Ranges inputs) {
  return std::ranges::any_of(inputs, [](const ValueRange* one) { return one != nullptr && one->may_be_infinite(); });
}

ValueRange quantized(const Node& node, Ranges inputs, std::size_t point) {
  const ValueRange* zero = input_at(inputs, point);
  const ElementType type = zero != nullptr ? zero->type : type_of_attribute(node, "output_dtype", ElementType::kU8);
  return ValueRange::between(type, lowest_of(type), highest_of(type));
}

ValueRange dequantized(const ValueRange& x, const Node& node, Ranges inputs) {
  const ValueRange* scale = input_at(inputs, 1);
  if (scale == nullptr) return ValueRange::any(ElementType::kF32);
  const double point = input_at(inputs, 2) != nullptr ? inputs[2]->largest() : 0;
  const double far = limit_product(x.largest() + point, scale->largest());
  return ValueRange::made(type_of_attribute(node, "output_dtype", scale->type), {-far, far, std::isinf(far)}, inputs);
}

// Interpolates between samples. Cubic interpolation exceeds them, the more so the greater its coefficient is.
ValueRange sampled(const ValueRange& x, const Node& node) {
  const Attribute* mode = node.find("mode");
  const bool is_cubic = mode != nullptr && (mode->text == "cubic" || mode->text == "bicubic");
  const double outside = number_of(node, "extrapolation_value", 0);
  const std::array<const ValueRange*, 1> input{&x};
  if (!is_cubic) {
    return ValueRange::made(x.type, {std::min(x.low, outside), std::max(x.high, outside), x.may_be_infinite()}, input);
  }
  const double rank = x.has_shape ? static_cast<double>(x.shape.size()) : 5;
  const double far = x.largest() * std::pow(2 + 2 * std::abs(number_of(node, "cubic_coeff_a", -0.75)), rank);
  return ValueRange::made(
      x.type, {-std::max(far, std::abs(outside)), std::max(far, std::abs(outside)), x.may_be_infinite()}, input);
}

// The state that recurs: -1 to 1, or an initial state.
ValueRange recurrent(const ValueRange& x, const Node& node, Ranges inputs) {
  if (node.find("activations") != nullptr) return ValueRange::any(x.type);
  const double far = input_at(inputs, 5) != nullptr ? std::max(1.0, inputs[5]->largest()) : 1;
  return ValueRange::made(x.type, {-far, far, any_is_infinite(inputs)}, inputs);
}

// A number divided by the deviation of all n of them, or by their root mean square, is at most sqrt(n).
ValueRange normalized(const Node& node, const ValueRange& x, Ranges inputs) {
  const ValueRange* scale = input_at(inputs, 1);
  const bool is_per_number = node.op == "LayerNormalization" || node.op == "RMSNormalization";
  const double count = is_per_number && scale != nullptr && scale->has_shape ? elements_of(*scale) : kSizeMax;
  double far = std::sqrt(std::max(1.0, count)) + 1;
  if (scale != nullptr) far = limit_product(far, scale->largest());
  if (const ValueRange* bias = input_at(inputs, 2)) far += bias->largest();
  return ValueRange::made(x.type, {-far, far, std::isinf(far) || x.may_be_infinite()}, inputs);
}

ValueRange layer(const ValueRange& x, Ranges inputs) {
  double far = ordinary_max(x.type);
  bool is_ordinary = true;
  for (const ValueRange* input : inputs) {
    if (input == nullptr || !is_float(input->type)) continue;
    is_ordinary = is_ordinary && !input->may_be_infinite();
    far = std::max(far, input->largest());
  }
  if (!is_ordinary) return ValueRange::made(x.type, {-kInfinite, kInfinite, true}, inputs);
  return ValueRange::made(x.type, {-far, far}, inputs);
}

}  // namespace

core::ElementType type_of_attribute(const Node& node, std::string_view name, ElementType otherwise) {
  const Attribute* attribute = node.find(name);
  if (attribute == nullptr || !attribute->integer || *attribute->integer < 0 || *attribute->integer > 255)
    return otherwise;
  return graph::element_type_of_onnx(*attribute->integer).value_or(otherwise);
}

std::optional<ValueRange> layer_range(const Node& node, const ValueRange& x, Ranges inputs) {
  const std::string_view op = node.op;
  if (op == "QuantizeLinear") return quantized(node, inputs, 2);
  if (op == "DynamicQuantizeLinear") return ValueRange::between(ElementType::kU8, 0, 255);
  if (op == "DequantizeLinear") return dequantized(x, node, inputs);
  if (op == "QLinearMatMul" || op == "QLinearConv") return quantized(node, inputs, 7);
  if (is_one_of(op, kProducts)) {
    const bool is_integer = op == "MatMulInteger" || op == "ConvInteger";
    return ValueRange::made(is_integer ? ElementType::kI32 : x.type, product_interval(node, inputs), inputs);
  }
  if (is_one_of(op, kRecurrent)) return recurrent(x, node, inputs);
  if (is_one_of(op, kNormalizations)) return normalized(node, x, inputs);
  if (is_one_of(op, kLayers)) return layer(x, inputs);
  if (op == "Resize" || op == "Upsample" || op == "GridSample" || op == "RoiAlign") return sampled(x, node);
  if (op == "RotaryEmbedding" && input_at(inputs, 1) != nullptr && input_at(inputs, 2) != nullptr) {
    const double far = limit_product(2 * x.largest(), std::max(inputs[1]->largest(), inputs[2]->largest()));
    return ValueRange::made(x.type, {-far, far, any_is_infinite(inputs)}, inputs);
  }
  if (op == "Col2Im") {
    const double far = limit_product(x.largest(), elements_of(x));
    return ValueRange::made(x.type, {-far, far, std::isinf(far)}, inputs.first(1));
  }
  return std::nullopt;
}

}  // namespace latebind::onnx
