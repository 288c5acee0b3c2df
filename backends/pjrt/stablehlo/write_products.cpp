// Products with weights.
#include <algorithm>

#include "backends/pjrt/stablehlo/writer.h"

namespace latebind::pjrt {

Tensor NetworkWriter::product(const Tensor& x, const graph::Weight& of) {
  return hlo_.dot(hlo_.convert(x, narrow_), {{x.last()}}, weight(of, narrow_), {{1}}, Element::kF32);
}

Tensor NetworkWriter::write(const graph::Linear& op) {
  const Tensor y = product(value(op.x), op.weight);
  return op.bias ? hlo_.binary("add", y, wide(*op.bias)) : y;
}

Tensor NetworkWriter::write(const graph::Convolution& op) {
  expect_mask(op.mask, false);
  const Tensor& x = value(op.x);
  const std::int64_t outputs = op.weight.shape[0];
  const std::int64_t inputs = op.weight.shape[1];
  const std::int64_t taps = op.weight.shape[2];
  const Tensor tokens = hlo_.select(hlo_.broadcast(attended(op.mask), x.dims, {0, 1}), x, 0.0);
  const Tensor padded = hlo_.convert(hlo_.pad(tokens, 1, (taps - 1) / 2, (taps - 1) / 2), narrow_);
  const Tensor weights = weight(op.weight, narrow_);
  Tensor y;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const Tensor one = hlo_.reshape(hlo_.slice(weights, 2, tap, 1), {outputs, inputs});
    const Tensor part = hlo_.dot(hlo_.slice(padded, 1, tap, x.dims[1]), {{2}}, one, {{1}}, Element::kF32);
    y = tap == 0 ? part : hlo_.binary("add", y, part);
  }
  return op.bias ? hlo_.binary("add", y, wide(*op.bias)) : y;
}

Tensor NetworkWriter::write(const graph::ShortConvolution& op) {
  expect_mask(op.mask, false);
  const Tensor& x = value(op.x);
  const std::int64_t tokens = x.dims[1];
  const std::int64_t columns = x.dims[2];
  const std::int64_t taps = op.weight.shape[1];
  const Tensor weights = wide(op.weight);
  Tensor y;
  for (std::int64_t back = 0; back < std::min(taps, tokens); ++back) {
    const Tensor before = hlo_.pad(hlo_.slice(x, 1, 0, tokens - back), 1, back, 0);
    const Tensor column = hlo_.reshape(hlo_.slice(weights, 1, taps - 1 - back, 1), {columns});
    const Tensor part = hlo_.binary("multiply", before, column);
    y = back == 0 ? part : hlo_.binary("add", y, part);
  }
  return op.bias ? hlo_.binary("add", y, wide(*op.bias)) : y;
}

// All experts are computed for all tokens, and those that a token did not choose count 0 times.
Tensor NetworkWriter::write(const graph::Experts& op) {
  const Tensor& x = value(op.x);
  const Tensor& router = value(op.router);
  const std::int64_t experts = router.dims.back();
  Dims pairs = router.dims;
  pairs.push_back(experts);
  const std::size_t last = router.rank();  // the place of the expert that one is compared with
  std::vector<std::size_t> as_other(router.rank());
  for (std::size_t i = 0; i < as_other.size(); ++i)
    as_other[i] = i;
  const Tensor self = hlo_.broadcast(router, pairs, as_other);
  as_other.back() = last;
  const Tensor other = hlo_.broadcast(router, pairs, as_other);
  const Tensor is_before =
      hlo_.compare(hlo_.iota(pairs, last, Element::kI32), hlo_.iota(pairs, last - 1, Element::kI32), "LT");
  const auto both = [&](const Tensor& a, const Tensor& b) { return hlo_.binary("and", a, b); };
  const Tensor is_better =
      hlo_.binary("or", hlo_.compare(other, self, "GT"), both(hlo_.compare(other, self, "EQ"), is_before));
  const Tensor better = hlo_.sum(hlo_.convert(is_better, Element::kF32), last);
  const Tensor is_chosen = hlo_.compare(better, static_cast<double>(op.chosen), "LT");
  const Tensor most = hlo_.along(hlo_.maximum(router, last - 1), router.dims, last - 1);
  const Tensor powers = hlo_.unary("stablehlo.exponential", hlo_.binary("subtract", router, most));
  const Tensor shares = hlo_.binary("divide", powers, hlo_.along(hlo_.sum(powers, last - 1), router.dims, last - 1));

  const Tensor inner = activated(product(x, op.wide), op.function);  // [.., E·F]
  Dims grouped = router.dims;
  grouped.push_back(inner.dims.back() / experts);
  const Tensor weighted = hlo_.binary("multiply", hlo_.reshape(inner, grouped),
                                      hlo_.along(hlo_.select(is_chosen, shares, 0.0), grouped, last));
  const Tensor y = hlo_.dot(hlo_.convert(hlo_.reshape(weighted, inner.dims), narrow_), {{inner.last()}},
                            weight(op.narrow, narrow_), {{0}}, Element::kF32);
  return op.bias ? hlo_.binary("add", y, wide(*op.bias)) : y;
}

}  // namespace latebind::pjrt
