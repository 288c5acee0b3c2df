// Operators of each number, norms and pooling.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backends/pjrt/stablehlo/writer.h"

namespace latebind::pjrt {

using graph::ActivationFunction;
using graph::PoolingMode;

namespace {

// The least norm and the least count in the definitions of the operators.
constexpr double kLeastNorm = 1e-12;
constexpr double kLeastCount = 1e-9;

}  // namespace

Tensor NetworkWriter::write(const graph::Add& op) {
  return hlo_.binary("add", value(op.a), value(op.b));
}

Tensor NetworkWriter::write(const graph::Multiply& op) {
  return hlo_.binary("multiply", value(op.a), value(op.b));
}

Tensor NetworkWriter::write(const graph::Scale& op) {
  return hlo_.binary("multiply", value(op.x), static_cast<double>(op.factor));
}

Tensor NetworkWriter::write(const graph::Columns& op) {
  const Tensor& x = value(op.x);
  Dims grouped = x.dims;
  const std::int64_t groups = grouped.back() / op.width;
  grouped.back() = groups;
  grouped.push_back(op.width);
  Dims dims = x.dims;
  dims.back() = groups * op.count;
  return hlo_.reshape(hlo_.slice(hlo_.reshape(x, grouped), x.rank(), op.first, op.count), dims);
}

Tensor NetworkWriter::write(const graph::LayerNorm& op) {
  const Tensor& x = value(op.x);
  const double share = 1.0 / static_cast<double>(x.dims.back());
  const auto mean = [&](const Tensor& of) { return hlo_.binary("multiply", hlo_.sum(of, of.last()), share); };
  const Tensor centred = hlo_.binary("subtract", x, hlo_.along(mean(x), x.dims, x.last()));
  const Tensor variance = mean(hlo_.binary("multiply", centred, centred));
  const Tensor scale = hlo_.unary("stablehlo.rsqrt", hlo_.binary("add", variance, op.epsilon));
  const Tensor normed = hlo_.binary("multiply", centred, hlo_.along(scale, x.dims, x.last()));
  const Tensor weighted = hlo_.binary("multiply", normed, wide(op.weight));
  return op.bias ? hlo_.binary("add", weighted, wide(*op.bias)) : weighted;
}

Tensor NetworkWriter::write(const graph::RmsNorm& op) {
  const Tensor& whole = value(op.x);
  Dims grouped = whole.dims;
  grouped.back() /= op.weight.shape[0];
  grouped.push_back(op.weight.shape[0]);
  const Tensor x = hlo_.reshape(whole, grouped);
  const Tensor mean = hlo_.binary("multiply", hlo_.sum(hlo_.binary("multiply", x, x), x.last()),
                                  1.0 / static_cast<double>(op.weight.shape[0]));
  const Tensor scale = hlo_.unary("stablehlo.rsqrt", hlo_.binary("add", mean, op.epsilon));
  const Tensor normed = hlo_.binary("multiply", x, hlo_.along(scale, x.dims, x.last()));
  Tensor weight = wide(op.weight);
  if (op.offset != 0) weight = hlo_.binary("add", weight, static_cast<double>(op.offset));
  return hlo_.reshape(hlo_.binary("multiply", normed, weight), whole.dims);
}

Tensor NetworkWriter::activated(const Tensor& x, ActivationFunction function) {
  const auto times = [&](const Tensor& a, double b) { return hlo_.binary("multiply", a, b); };
  // x/2 · (1 + y)
  const auto half = [&](const Tensor& y) { return hlo_.binary("multiply", times(x, 0.5), hlo_.binary("add", y, 1)); };
  switch (function) {
    case ActivationFunction::kGeluErf:
      return half(hlo_.unary("chlo.erf", times(x, std::numbers::sqrt2 / 2)));
    case ActivationFunction::kGeluTanh: {
      const Tensor cube = hlo_.binary("multiply", hlo_.binary("multiply", x, x), x);
      const Tensor inner = hlo_.binary("add", x, times(cube, 0.044715));
      return half(hlo_.unary("stablehlo.tanh", times(inner, std::sqrt(2 / std::numbers::pi))));
    }
    case ActivationFunction::kRelu:
      return hlo_.binary("maximum", x, 0.0);
    case ActivationFunction::kSilu:
      return hlo_.binary("multiply", x, hlo_.unary("stablehlo.logistic", x));
    case ActivationFunction::kTanh:
      break;
  }
  return hlo_.unary("stablehlo.tanh", x);
}

Tensor NetworkWriter::write(const graph::Activation& op) {
  return activated(value(op.x), op.function);
}

Tensor NetworkWriter::write(const graph::Pool& op) {
  expect_mask(op.mask, false);
  const Tensor& x = value(op.x);
  const Dims vectors{x.dims[0], x.dims[2]};
  if (op.mode == PoolingMode::kCls) return hlo_.reshape(hlo_.slice(x, 1, 0, 1), vectors);
  const Tensor is_token = attended(op.mask);
  const Tensor in_columns = hlo_.broadcast(is_token, x.dims, {0, 1});
  if (op.mode == PoolingMode::kMax)
    return hlo_.maximum(hlo_.select(in_columns, x, -std::numeric_limits<double>::infinity()), 1);
  const Tensor ones = hlo_.convert(is_token, Element::kF32);
  const Tensor count = hlo_.sum(ones, 1);
  // Padding may have any numbers, including infinities and NaN.
  const Tensor tokens = hlo_.select(in_columns, x, 0.0);
  const auto divided = [&](const Tensor& sum, const Tensor& by) {
    return hlo_.binary("divide", sum, hlo_.along(by, vectors, 1));
  };
  const Tensor place = hlo_.binary("add", hlo_.iota(ones.dims, 1, Element::kF32), 1);  // from 1
  if (op.mode == PoolingMode::kLastToken) {
    const Tensor places = hlo_.binary("multiply", ones, place);
    const Tensor is_last = hlo_.compare(places, hlo_.along(hlo_.maximum(places, 1), ones.dims, 1), "EQ");
    return hlo_.sum(hlo_.select(hlo_.broadcast(is_last, x.dims, {0, 1}), tokens, 0.0), 1);
  }
  if (op.mode == PoolingMode::kWeightedMean) {
    const Tensor shares = hlo_.binary("multiply", ones, place);
    const Tensor weighted = hlo_.binary("multiply", tokens, hlo_.broadcast(shares, x.dims, {0, 1}));
    return divided(hlo_.sum(weighted, 1), hlo_.binary("maximum", hlo_.sum(shares, 1), kLeastCount));
  }
  const Tensor least = hlo_.binary("maximum", count, kLeastCount);
  return divided(hlo_.sum(tokens, 1), op.mode == PoolingMode::kMeanSqrt ? hlo_.unary("stablehlo.sqrt", least) : least);
}

Tensor NetworkWriter::write(const graph::Normalize& op) {
  const Tensor& x = value(op.x);
  const Tensor norm = hlo_.unary("stablehlo.sqrt", hlo_.sum(hlo_.binary("multiply", x, x), x.last()));
  return hlo_.binary("divide", x, hlo_.along(hlo_.binary("maximum", norm, kLeastNorm), x.dims, x.last()));
}

}  // namespace latebind::pjrt
