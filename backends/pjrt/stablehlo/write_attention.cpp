// Attention. Its scores are [B,heads,T,T], or [B,key_heads,T,group,T] where a group of heads shares a key.
#include <fmt/format.h>

#include <cmath>

#include "backends/pjrt/stablehlo/writer.h"

namespace latebind::pjrt {

using core::Status;
using core::StatusCode;

namespace {

// What texts of this length exceed, or null.
const char* too_long_for(const graph::Attention& op, std::int64_t tokens) {
  if (op.rotary && tokens > op.rotary->positions) return "rotary.positions";
  if (op.linear_bias && tokens > op.linear_bias->positions) return "linear_bias.positions";
  return nullptr;
}

}  // namespace

// x [B,T,heads,w] -> as x
Tensor NetworkWriter::turned(const graph::Rotary& rotary, const Tensor& x) {
  const std::int64_t tokens = x.dims[1];
  const auto half = static_cast<std::int64_t>(rotary.frequencies.size());
  graph::Rotary used = rotary;
  used.positions = tokens;
  graph::Turns turns = graph::turns_of(used);
  std::string key = fmt::format("{}", rotary.factor);
  for (const float frequency : rotary.frequencies)
    key += fmt::format(" {}", frequency);
  const Tensor cosines = table("cosines " + key, {tokens, half}, std::move(turns.cosines));
  const Tensor sines = table("sines " + key, {tokens, half}, std::move(turns.sines));
  const Tensor a = hlo_.slice(x, 3, 0, half);
  const Tensor b = hlo_.slice(x, 3, half, half);
  const Tensor c = hlo_.broadcast(cosines, a.dims, {1, 3});
  const Tensor s = hlo_.broadcast(sines, a.dims, {1, 3});
  const auto times = [&](const Tensor& p, const Tensor& q) { return hlo_.binary("multiply", p, q); };
  return hlo_.concatenate(hlo_.binary("subtract", times(a, c), times(b, s)),
                          hlo_.binary("add", times(b, c), times(a, s)), 3);
}

Tensor NetworkWriter::distance_products(const graph::Disentangled& terms, graph::Value rows_of, const Tensor& x,
                                        bool is_reversed) {
  const std::int64_t texts = x.dims[0];
  const std::int64_t tokens = x.dims[1];
  const std::int64_t heads = x.dims[2];
  const std::int64_t distances = 2 * tokens - 1;
  std::vector<std::int32_t> numbers;
  for (std::int64_t i = 0; i < distances; ++i) {
    const std::int64_t distance = is_reversed ? i - (tokens - 1) : tokens - 1 - i;
    numbers.push_back(static_cast<std::int32_t>(graph::row_of(terms, distance)));
  }
  const Tensor which = table(fmt::format("rows {} {} {}", terms.span, terms.farthest.value_or(0), is_reversed),
                             {distances}, std::move(numbers));
  const Tensor rows =
      hlo_.convert(hlo_.reshape(hlo_.rows(value(rows_of), which), {distances, heads, x.dims[3]}), narrow_);
  const Tensor all = hlo_.dot(x, {{3}, {2}}, rows, {{2}, {1}}, Element::kF32);  // [heads,B,T,2T-1]
  // Row t has the product for token s in column s - t + T-1. With one more column, that product is at t(2T-1) + s + T-1
  // in row-major order. So, without the first T-1 numbers, row t of a table with 2T-1 columns begins with the T
  // products.
  const Tensor flat = hlo_.reshape(hlo_.pad(all, 3, 0, 1), {heads, texts, 2 * tokens * tokens});
  const Tensor shifted = hlo_.slice(flat, 2, tokens - 1, tokens * distances);
  const Tensor square = hlo_.slice(hlo_.reshape(shifted, {heads, texts, tokens, distances}), 3, 0, tokens);
  return is_reversed ? hlo_.transpose(square, {1, 0, 3, 2}) : hlo_.transpose(square, {1, 0, 2, 3});
}

void NetworkWriter::add_biases(const graph::Attention& op, Scores& scores) {
  const Dims& dims = scores.numbers.dims;
  const std::int64_t tokens = dims.back();
  const std::int64_t group = op.heads / op.key_heads;
  const std::size_t last = dims.size() - 1;
  const Dims square{tokens, tokens};
  // Adds numbers [heads,T,T].
  const auto add = [&](const Tensor& biases) {
    if (group == 1) {
      scores.numbers = hlo_.binary("add", scores.numbers, hlo_.broadcast(biases, dims, {1, 2, 3}));
      return;
    }
    const Tensor grouped = hlo_.reshape(biases, {op.key_heads, group, tokens, tokens});
    scores.numbers = hlo_.binary("add", scores.numbers, hlo_.broadcast(grouped, dims, {1, 3, scores.tokens, last}));
  };
  if (op.linear_bias) {
    const Tensor distance = hlo_.unary("stablehlo.abs", hlo_.binary("subtract", hlo_.iota(square, 0, Element::kF32),
                                                                    hlo_.iota(square, 1, Element::kF32)));
    std::string key = "slopes";
    for (const float slope : op.linear_bias->slopes)
      key += fmt::format(" {}", slope);
    const Tensor slopes = table(key, {op.heads}, op.linear_bias->slopes);
    const Dims biases{op.heads, tokens, tokens};
    add(hlo_.unary("stablehlo.negate", hlo_.binary("multiply", hlo_.broadcast(distance, biases, {1, 2}),
                                                   hlo_.broadcast(slopes, biases, {0}))));
  }
  if (op.distance_bias) {
    std::vector<std::int32_t> buckets;
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t s = 0; s < tokens; ++s)
        buckets.push_back(static_cast<std::int32_t>(graph::bucket_of(*op.distance_bias, s - t)));
    }
    const Tensor which =
        table(fmt::format("buckets {} {}", op.distance_bias->table.shape[0], op.distance_bias->farthest), square,
              std::move(buckets));
    add(hlo_.transpose(hlo_.rows(wide(op.distance_bias->table), which), {2, 0, 1}));
  }
}

Tensor NetworkWriter::allowed(const graph::Attention& op, const Scores& scores) {
  const Dims& dims = scores.numbers.dims;
  const std::size_t last = dims.size() - 1;
  Tensor is_allowed = hlo_.broadcast(attended(op.mask), dims, {0, last});
  if (!op.window && !op.causal) return is_allowed;
  const Dims square{dims.back(), dims.back()};
  const Tensor t = hlo_.iota(square, 0, Element::kI32);
  const Tensor s = hlo_.iota(square, 1, Element::kI32);
  const auto restrict_to = [&](const Tensor& near) {
    is_allowed = hlo_.binary("and", is_allowed, hlo_.broadcast(near, dims, {scores.tokens, last}));
  };
  if (op.causal) restrict_to(hlo_.compare(s, t, "LE"));
  if (op.window && *op.window < dims.back()) {
    restrict_to(hlo_.compare(hlo_.unary("stablehlo.abs", hlo_.binary("subtract", s, t)),
                             static_cast<double>(*op.window), "LE"));
  }
  return is_allowed;
}

Tensor NetworkWriter::write(const graph::Attention& op) {
  expect_mask(op.mask, op.may_be_unattended);
  const Dims whole = value(op.query).dims;
  const std::int64_t texts = whole[0];
  const std::int64_t tokens = whole[1];
  const std::int64_t width = whole[2] / op.heads;
  const std::int64_t group = op.heads / op.key_heads;
  if (const char* const limit = too_long_for(op, tokens)) {
    fail(Status(StatusCode::kShapeMismatch,
                fmt::format("texts have {} tokens, more than {} of attention", tokens, limit)));
    return {};
  }
  const auto headed = [&](graph::Value of, std::int64_t heads, bool turns) {
    Tensor x = hlo_.reshape(value(of), {texts, tokens, heads, width});
    if (turns && op.rotary) x = turned(*op.rotary, x);
    return hlo_.convert(x, narrow_);
  };
  Tensor query = headed(op.query, op.heads, true);
  if (group > 1) query = hlo_.reshape(query, {texts, tokens, op.key_heads, group, width});
  const Tensor key = headed(op.key, op.key_heads, true);
  const Tensor content = headed(op.value, op.key_heads, false);

  Scores scores{hlo_.dot(query, {{query.last()}, {0, 2}}, key, {{3}, {0, 2}}, Element::kF32), 2};
  if (op.disentangled) {
    const graph::Disentangled& terms = *op.disentangled;
    if (terms.keys)
      scores.numbers = hlo_.binary("add", scores.numbers, distance_products(terms, *terms.keys, query, false));
    if (terms.queries)
      scores.numbers = hlo_.binary("add", scores.numbers, distance_products(terms, *terms.queries, key, true));
  }
  scores.numbers = hlo_.binary("multiply", scores.numbers, static_cast<double>(op.scale));
  if (op.soft_cap) {
    const auto cap = static_cast<double>(*op.soft_cap);
    scores.numbers =
        hlo_.binary("multiply", hlo_.unary("stablehlo.tanh", hlo_.binary("divide", scores.numbers, cap)), cap);
  }
  add_biases(op, scores);

  const Tensor is_allowed = allowed(op, scores);
  const Tensor counted = hlo_.select(is_allowed, scores.numbers, kExcluded);
  const std::size_t last = counted.last();
  const auto along = [&](const Tensor& x) { return hlo_.along(x, counted.dims, last); };
  Tensor powers =
      hlo_.unary("stablehlo.exponential", hlo_.binary("subtract", counted, along(hlo_.maximum(counted, last))));
  Tensor total;
  if (op.may_be_unattended) {
    // A token that may attend to none gets 0.
    powers = hlo_.select(is_allowed, powers, 0.0);
    total = hlo_.binary("maximum", hlo_.sum(powers, last), 1e-30);
  } else {
    total = hlo_.sum(powers, last);
  }
  const Tensor shares = hlo_.convert(hlo_.binary("divide", powers, along(total)), narrow_);
  // [B,heads,T,w], or [B,key_heads,T,group,w]
  const Tensor y = hlo_.dot(shares, {{last}, {0, 1}}, content, {{1}, {0, 2}}, Element::kF32);
  return hlo_.reshape(group > 1 ? hlo_.transpose(y, {0, 2, 1, 3, 4}) : hlo_.transpose(y, {0, 2, 1, 3}), whole);
}

}  // namespace latebind::pjrt
