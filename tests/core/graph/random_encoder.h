// Encoders of any size, and texts for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/executable.h"
#include "core/graph/graph.h"
#include "core/platform/environment.h"
#include "tests/core/graph/evaluator.h"
#include "tests/core/graph/small_graph.h"

namespace latebind::graph::testing {

using core::ElementType;
using core::Shape;

// An encoder of any size: what it is made of is drawn by chance.
struct EncoderShape {
  std::int64_t hidden = 8;
  std::int64_t heads = 2;
  std::int64_t intermediate = 16;
  std::int64_t vocabulary = 50;
  std::int64_t positions = 64;
  int layers = 1;
  ElementType weights = ElementType::kF32;
  ActivationFunction activation = ActivationFunction::kGeluErf;
  PoolingMode pooling = PoolingMode::kMean;
  bool pooled = true;
  bool normalize = true;
  std::optional<std::int64_t> dense = std::nullopt;    // the width of a layer after the pooling
  std::optional<std::int64_t> padding = std::nullopt;  // of positions
  std::int64_t buckets = 0;                            // of distances; 0: no bias
  std::int64_t farthest = 0;
  bool linear_bias = false;  // only without a bias of distances
  bool rotary = false;
  float rotary_factor = 1;
  std::optional<float> soft_cap = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool gated = false;  // the wide part is multiplied by another one, and neither has a bias
  std::optional<std::int64_t> key_heads = std::nullopt;  // fewer than heads
  bool causal = false;
  bool may_be_unattended = false;
  // Disentangled scores if there is no bias of distances, no rotation and a key head for each head: so many rows in
  // each direction. 0: none. `span_farthest`: where rows are logarithmic.
  std::int64_t span = 0;
  std::optional<std::int64_t> span_farthest = std::nullopt;
  bool has_place_keys = true;
  bool has_place_queries = true;
  bool places_are_normal = false;  // the tables have a norm
  std::int64_t kernel = 0;         // the width of a convolution beside the first layer; 0: none
  bool joint = false;              // queries and keys are columns of one product
  // RMS norms instead of layer norms, and of each head's queries and keys; words are scaled. As decoders have it.
  bool rms = false;
  std::int64_t short_convolution = 0;  // the width of a convolution before attention; 0: none
  std::int64_t experts = 0;            // their number, in place of the feed-forward part; 0: none
  std::int64_t chosen = 1;
};

// How many are drawn: LATEBIND_TEST_ENCODERS_TIMES as many (1), or one in LATEBIND_TEST_ENCODERS_ONE_IN of these (1),
// where everything is slow.
inline std::size_t encoders_to_draw(std::size_t count) {
  const auto one_in = std::stoul(platform::environment("LATEBIND_TEST_ENCODERS_ONE_IN").value_or("1"));
  const auto times = std::stoul(platform::environment("LATEBIND_TEST_ENCODERS_TIMES").value_or("1"));
  return (count * times + one_in - 1) / one_in;
}

inline EncoderShape draw_shape(std::mt19937& chance) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(1, most)(chance); };
  EncoderShape shape;
  shape.heads = up_to(4);
  shape.hidden = shape.heads * up_to(20);
  shape.intermediate = up_to(70);
  shape.layers = up_to(2);
  constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF16, ElementType::kBF16};
  shape.weights = kTypes[up_to(3) - 1];
  shape.activation = static_cast<ActivationFunction>(up_to(5) - 1);
  shape.pooling = static_cast<PoolingMode>(up_to(6) - 1);
  shape.pooled = up_to(4) > 1;
  shape.normalize = up_to(2) > 1;
  if (up_to(3) == 1) shape.padding = up_to(4) - 1;
  shape.rotary = up_to(3) == 1;
  if (shape.rotary) shape.hidden *= 2;  // an even width
  if (up_to(3) == 1) shape.window = up_to(12) - 1;
  shape.gated = up_to(3) == 1;
  if (up_to(3) == 1) {
    shape.buckets = 4 * up_to(8);
    shape.farthest = shape.buckets / 4 + up_to(40);
  }
  if (up_to(3) == 1) {
    const std::int64_t head = shape.hidden / shape.heads;
    shape.key_heads = up_to(2);
    shape.heads = *shape.key_heads * up_to(3);
    shape.hidden = head * shape.heads;
  }
  shape.causal = up_to(3) == 1;
  shape.rms = up_to(3) == 1;
  if (up_to(3) == 1) shape.dense = up_to(50);
  return shape;
}

// What came later, drawn by itself, so that the shapes are those whose arithmetic is known in every precision.
inline void draw_more(std::mt19937& chance, EncoderShape& shape) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(1, most)(chance); };
  shape.linear_bias = up_to(3) == 1;
  if (up_to(3) == 1) shape.rotary_factor = 1.25F;
  if (up_to(3) == 1) shape.soft_cap = 0.25F * static_cast<float>(up_to(20));
  if (up_to(3) == 1) shape.short_convolution = up_to(5);
  if (up_to(3) == 1) {
    shape.experts = up_to(6);
    shape.chosen = up_to(static_cast<int>(shape.experts));
  }
}

// What came last, likewise drawn by itself.
inline void draw_latest(std::mt19937& chance, EncoderShape& shape) {
  const auto up_to = [&](int most) { return std::uniform_int_distribution<int>(1, most)(chance); };
  if (up_to(3) == 1) shape.kernel = 2 * up_to(3) - 1;
  const bool has_equal_heads = shape.key_heads.value_or(shape.heads) == shape.heads;
  shape.joint = up_to(3) == 1 && has_equal_heads;
  if (up_to(2) == 1 || !has_equal_heads) return;
  shape.buckets = 0;
  shape.linear_bias = false;
  shape.rotary = false;
  shape.span = 4 * up_to(5);
  if (up_to(2) == 1) shape.span_farthest = shape.span / 2 + 1 + up_to(20);
  shape.has_place_keys = up_to(3) > 1;
  shape.has_place_queries = !shape.has_place_keys || up_to(2) == 1;
  shape.places_are_normal = up_to(2) == 1;
}

// `weights` is as SmallWeights: what its weights are.
template <class Weights = SmallWeights>
core::Result<graph::Graph> encoder(const EncoderShape& shape, Weights weights = {}) {
  const std::int64_t h = shape.hidden;
  int number = 0;
  const auto weight = [&](const Shape& dims) {
    return weights.add("w" + std::to_string(number++), shape.weights, dims);
  };
  struct Linear {
    graph::Weight weight;
    graph::Weight bias;
  };
  const auto linear = [&](std::int64_t in, std::int64_t out) { return Linear{weight({out, in}), weight({out})}; };
  struct Layer {
    Linear query, key, value, output, wide, narrow;
    Linear norm, last_norm;
    graph::Weight gate, query_norm, key_norm;
    graph::Weight short_convolution, router, wide_of_all, narrow_of_all;
  };
  const std::int64_t head = h / shape.heads;
  const std::int64_t key_heads = shape.key_heads.value_or(shape.heads);
  const graph::Weight words = weight({shape.vocabulary, h});
  const graph::Weight positions = weight({shape.positions + (shape.padding ? *shape.padding + 1 : 0), h});
  std::optional<graph::DistanceBias> bias;
  if (shape.buckets > 0) bias = graph::DistanceBias{weight({shape.buckets, shape.heads}), shape.farthest};
  const graph::Weight types = weight({2, h});
  const Linear first_norm{weight({h}), weight({h})};
  std::vector<Layer> layers;
  for (int i = 0; i < shape.layers; ++i) {
    layers.push_back({linear(h, h),
                      linear(h, head * key_heads),
                      linear(h, head * key_heads),
                      linear(h, h),
                      linear(h, shape.intermediate),
                      linear(shape.intermediate, h),
                      {weight({h}), weight({h})},
                      {weight({h}), weight({h})},
                      shape.gated ? weight({shape.intermediate, h}) : graph::Weight(),
                      shape.rms ? weight({head}) : graph::Weight(),
                      shape.rms ? weight({head}) : graph::Weight(),
                      shape.short_convolution > 0 ? weight({h, shape.short_convolution}) : graph::Weight(),
                      shape.experts > 0 ? weight({shape.experts, h}) : graph::Weight(),
                      shape.experts > 0 ? weight({shape.experts * shape.intermediate, h}) : graph::Weight(),
                      shape.experts > 0 ? weight({shape.experts * shape.intermediate, h}) : graph::Weight()});
  }
  // Drawn later than the others, and therefore behind them.
  struct Places {
    Linear keys, queries;
  };
  std::vector<Places> places;
  graph::Weight place_table;
  if (shape.span > 0) {
    place_table = weight({2 * shape.span, h});
    for (int i = 0; i < shape.layers; ++i)
      places.push_back({linear(h, h), linear(h, h)});
  }
  std::optional<Linear> convolution;
  if (shape.kernel > 0) convolution = Linear{weight({h, h, shape.kernel}), weight({h})};
  const graph::Weight joint = shape.joint ? weight({2 * h, h}) : graph::Weight();
  std::optional<Linear> dense;
  if (shape.dense) dense = linear(h, *shape.dense);
  std::optional<graph::Rotary> rotary;
  if (shape.rotary)
    rotary = graph::Rotary{graph::rotary_frequencies(10000, head), shape.positions, shape.rotary_factor};
  std::optional<graph::LinearBias> linear_bias;
  if (shape.linear_bias && !bias) {
    linear_bias = graph::LinearBias{{}, shape.positions};
    for (std::int64_t i = 0; i < shape.heads; ++i)
      linear_bias->slopes.push_back(1.0F / static_cast<float>(2 + i));
  }
  graph::GraphBuilder graph(weights.part());
  const Shape tokens{core::kDynamic, core::kDynamic};
  const Value ids = graph.add(graph::Input{"ids", ElementType::kI64, tokens});
  const Value mask = graph.add(graph::Input{"mask", ElementType::kI64, tokens});
  const auto apply = [&](Value x, const Linear& l) {
    return graph.add(graph::Linear{.x = x, .weight = l.weight, .bias = l.bias});
  };
  const auto rms_norm = [&](Value x, const graph::Weight& w) {
    return graph.add(graph::RmsNorm{.x = x, .weight = w, .offset = shape.causal ? 1.0F : 0.0F, .epsilon = 1e-5});
  };
  const auto norm = [&](Value x, const Linear& l) {
    if (shape.rms) return rms_norm(x, l.weight);
    return graph.add(graph::LayerNorm{.x = x, .weight = l.weight, .bias = l.bias, .epsilon = 1e-5});
  };
  const Value place = graph.add(graph::Add{graph.add(graph::PositionLookup{positions, ids, shape.padding}),
                                           graph.add(graph::RowLookup{types, 1})});
  Value word = graph.add(graph::Lookup{words, ids});
  if (shape.rms) word = graph.add(graph::Scale{.x = word, .factor = 1.5F});
  Value x = norm(graph.add(graph::Add{word, place}), first_norm);
  const auto feed_forward = [&](Value middle, const Layer& layer) {
    if (shape.experts > 0) {
      const Value router = graph.add(graph::Linear{.x = middle, .weight = layer.router});
      return graph.add(graph::Experts{.x = middle,
                                      .router = router,
                                      .wide = layer.wide_of_all,
                                      .narrow = layer.narrow_of_all,
                                      .bias = layer.narrow.bias,
                                      .chosen = shape.chosen,
                                      .function = shape.activation});
    }
    const Value wide =
        shape.gated ? graph.add(graph::Linear{.x = middle, .weight = layer.wide.weight}) : apply(middle, layer.wide);
    Value active = graph.add(graph::Activation{wide, shape.activation});
    if (shape.gated)
      active = graph.add(graph::Multiply{active, graph.add(graph::Linear{.x = middle, .weight = layer.gate})});
    return apply(active, layer.narrow);
  };
  std::optional<Value> table;
  if (shape.span > 0) table = graph.add(graph::WholeTable{place_table});
  if (table && shape.places_are_normal)
    table = graph.add(graph::LayerNorm{.x = *table, .weight = first_norm.weight, .bias = first_norm.bias});
  const Value first = x;
  for (const Layer& layer : layers) {
    if (shape.short_convolution > 0) {
      x = graph.add(
          graph::ShortConvolution{.x = x, .mask = mask, .weight = layer.short_convolution, .bias = layer.norm.bias});
    }
    const auto at = static_cast<std::size_t>(&layer - layers.data());
    Value query;
    Value key;
    if (!shape.joint) {
      query = apply(x, layer.query);
      key = apply(x, layer.key);
    } else {
      const Value both = graph.add(graph::Linear{.x = x, .weight = joint});
      query = graph.add(graph::Columns{.x = both, .width = 2 * head, .first = 0, .count = head});
      key = graph.add(graph::Columns{.x = both, .width = 2 * head, .first = head, .count = head});
    }
    std::optional<graph::Disentangled> disentangled;
    if (table) {
      disentangled = graph::Disentangled{.span = shape.span, .farthest = shape.span_farthest};
      if (shape.has_place_keys) disentangled->keys = apply(*table, places[at].keys);
      if (shape.has_place_queries) disentangled->queries = apply(*table, places[at].queries);
    }
    if (shape.rms) {
      query = rms_norm(query, layer.query_norm);
      key = rms_norm(key, layer.key_norm);
    }
    // With three products in a score, no score may come near the value that masks others.
    const float less = table ? 0.25F : 1.0F;
    const Value context =
        graph.add(graph::Attention{.query = query,
                                   .key = key,
                                   .value = apply(x, layer.value),
                                   .mask = mask,
                                   .heads = shape.heads,
                                   .key_heads = key_heads,
                                   .scale = less / std::sqrt(static_cast<float>(h) / static_cast<float>(shape.heads)),
                                   .distance_bias = bias,
                                   .linear_bias = linear_bias,
                                   .disentangled = disentangled,
                                   .rotary = rotary,
                                   .soft_cap = table ? std::nullopt : shape.soft_cap,
                                   .window = shape.window,
                                   .causal = shape.causal,
                                   .may_be_unattended = shape.may_be_unattended});
    const Value middle = norm(graph.add(graph::Add{apply(context, layer.output), x}), layer.norm);
    x = norm(graph.add(graph::Add{feed_forward(middle, layer), middle}), layer.last_norm);
    if (convolution && at == 0) {
      const Value near = graph.add(
          graph::Convolution{.x = first, .mask = mask, .weight = convolution->weight, .bias = convolution->bias});
      x = norm(graph.add(graph::Add{graph.add(graph::Activation{near, ActivationFunction::kTanh}), x}), first_norm);
    }
  }
  if (!shape.pooled) {
    if (dense && shape.may_be_unattended) x = graph.add(graph::Activation{apply(x, *dense), ActivationFunction::kTanh});
    if (shape.normalize && shape.may_be_unattended) x = graph.add(graph::Normalize{x});
    return std::move(graph).finish(x, "tokens");
  }
  x = graph.add(graph::Pool{x, mask, shape.pooling});
  if (dense) x = graph.add(graph::Activation{apply(x, *dense), ActivationFunction::kTanh});
  if (shape.normalize) x = graph.add(graph::Normalize{x});
  return std::move(graph).finish(x, "vector");
}

// Texts of these lengths, padded to the longest one's and by `more`.
inline Inputs draw_batch(std::mt19937& chance, const std::vector<std::int64_t>& lengths, std::int64_t vocabulary,
                         std::int64_t more = 0) {
  const std::int64_t width = *std::max_element(lengths.begin(), lengths.end()) + more;
  Array ids{{static_cast<std::int64_t>(lengths.size()), width}, {}};
  Array mask = ids;
  std::uniform_int_distribution<std::int64_t> id(0, vocabulary - 1);
  for (const std::int64_t length : lengths) {
    for (std::int64_t t = 0; t < width; ++t) {
      ids.values.push_back(static_cast<double>(t < length ? id(chance) : 0));
      mask.values.push_back(t < length ? 1 : 0);
    }
  }
  return {{"ids", ids}, {"mask", mask}};
}

// Makes the last tokens of each text, but never all of them, unattended.
inline void leave_unattended(Inputs& inputs, std::int64_t count) {
  Array& mask = inputs.at("mask");
  const std::int64_t width = mask.shape[1];
  for (std::int64_t text = 0; text < mask.shape[0]; ++text) {
    const auto row = mask.values.begin() + text * width;
    const auto tokens = std::count(row, row + width, 1.0);
    for (std::int64_t t = std::max<std::int64_t>(1, tokens - count); t < tokens; ++t)
      row[t] = static_cast<double>(kUnattended);
  }
}

struct Outcome {
  core::Status status;
  Shape shape;
  std::vector<float> values;
};

inline std::vector<Outcome> run_all(core::Executable& executable, const Inputs& inputs,
                                    const core::RunOptions& options = {}) {
  std::vector<std::vector<std::int64_t>> data;
  std::vector<core::TensorView> views;
  for (const core::TensorInfo& info : executable.inputs()) {
    const Array& array = inputs.at(info.name);
    data.emplace_back(array.values.begin(), array.values.end());
    const auto shape = Shape::make(array.shape);
    views.push_back({nullptr, ElementType::kI64, *shape, std::nullopt});
  }
  for (std::size_t i = 0; i < views.size(); ++i)
    views[i].data = data[i].data();
  std::vector<core::OutputTensor> outputs(executable.outputs().size());
  std::vector<Outcome> outcomes(outputs.size());
  const core::Status status = executable.execute(views, outputs, options);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    outcomes[i].status = status;
    if (!status.ok()) continue;
    outcomes[i].shape = outputs[i].view().shape;
    const auto* const values = static_cast<const float*>(outputs[i].view().data);
    outcomes[i].values.assign(values, values + *outcomes[i].shape.element_count());
  }
  return outcomes;
}

// Of a graph with one output.
inline Outcome run(core::Executable& executable, const Inputs& inputs, const core::RunOptions& options = {}) {
  return std::move(run_all(executable, inputs, options).front());
}

}  // namespace latebind::graph::testing
