// A small encoder with every operator, on weights in memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array.h"
#include "core/graph/graph.h"

namespace latebind::graph::testing {

// Weights with values of a pattern, one after the other. What add() gives is of the file that part() gives at the end.
class SmallWeights {
 public:
  Weight add(std::string name, core::ElementType type, const core::Shape& shape) {
    Weight weight{.name = std::move(name), .type = type, .shape = shape, .offset = bytes_.size()};
    const std::size_t count = *shape.element_count();
    for (std::size_t i = 0; i < count; ++i)
      append(type, static_cast<float>(std::sin(static_cast<double>(++number_) * 1.7)));
    return weight;
  }

  [[nodiscard]] core::FilePart part() const {
    core::FilePart part;
    part.where.size = bytes_.size();
    part.bytes = core::SharedBytes::from_string(bytes_);
    return part;
  }

 private:
  void append(core::ElementType type, float value) {
    // No subnormal numbers, which the conversion does not know.
    if (std::abs(value) < 0x1p-14F) value = 0x1p-14F;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    // Between 2⁻¹⁴ and 1 a half is those bits of a float with another bias.
    const std::uint32_t half = (bits >> 16U & 0x8000U) | (((bits >> 13U & 0x3ffffU) - (112U << 10U)) & 0x7fffU);
    if (type == core::ElementType::kF32) put(bits, 4);
    if (type == core::ElementType::kBF16) put(bits >> 16U, 2);
    if (type == core::ElementType::kF16) put(half, 2);
  }
  void put(std::uint32_t bits, unsigned size) {
    for (unsigned shift = 0; shift < size * 8; shift += 8)
      bytes_ += static_cast<char>(bits >> shift & 0xffU);
  }

  std::string bytes_;
  unsigned number_ = 0;
};

struct SmallGraphOptions {
  core::ElementType weights = core::ElementType::kF32;
  ActivationFunction activation = ActivationFunction::kGeluErf;
  PoolingMode pooling = PoolingMode::kMean;
  bool pooled = true;            // else token vectors
  bool has_all_outputs = false;  // besides `vector`: `inner` [b,t,8], `tokens` and `pooled` [b,8], before it
  float scale = 0.5F;
  std::optional<std::int64_t> padding = std::nullopt;   // of positions
  std::optional<std::int64_t> farthest = std::nullopt;  // in the bias of distances
  std::vector<float> slopes{};  // of a bias that grows with the distance, one for each of the two heads
  bool rotary = false;
  float rotary_factor = 1;
  std::optional<float> soft_cap = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool gated = false;                  // the wide part is multiplied by another one
  bool biases = true;                  // of norms and of linears
  std::int64_t short_convolution = 0;  // the width of a convolution of the queries; 0: none
  std::int64_t chosen = 0;             // of three experts in place of the feed-forward part
};

// Inputs `ids` (0 to 6) and `mask`, output `vector` [b,8] or `tokens` [b,t,8]; texts of up to 5 tokens.
inline core::Result<Graph> small_graph(const SmallGraphOptions& options = {}) {
  using core::ElementType;
  using core::Shape;
  const ElementType type = options.weights;
  SmallWeights weights;
  const Weight words = weights.add("words", type, Shape{7, 8});
  // The five, and those below them.
  const Weight positions = weights.add("positions", type, Shape{5 + (options.padding ? *options.padding + 1 : 0), 8});
  const Weight types = weights.add("types", type, Shape{2, 8});
  const Weight scale = weights.add("norm.weight", type, Shape{8});
  const Weight shift = weights.add("norm.bias", type, Shape{8});
  std::vector<std::pair<Weight, Weight>> linears;
  for (const char* name : {"query", "key", "value"}) {
    linears.emplace_back(weights.add(std::string(name) + ".weight", type, Shape{8, 8}),
                         weights.add(std::string(name) + ".bias", type, Shape{8}));
  }
  const Weight wide = weights.add("wide.weight", type, Shape{12, 8});
  const Weight wide_bias = weights.add("wide.bias", type, Shape{12});
  const Weight narrow = weights.add("narrow.weight", type, Shape{8, 12});
  const Weight narrow_bias = weights.add("narrow.bias", type, Shape{8});
  std::optional<DistanceBias> distances;
  if (options.farthest) {
    distances = DistanceBias{.table = weights.add("distances", type, Shape{8, 2}), .farthest = *options.farthest};
  }

  const Weight gate = options.gated ? weights.add("gate.weight", type, Shape{12, 8}) : Weight();
  const auto bias_of = [&](const Weight& bias) { return options.biases ? std::optional(bias) : std::nullopt; };

  const Weight factors =
      options.short_convolution > 0 ? weights.add("factors", type, Shape{8, options.short_convolution}) : Weight();
  std::optional<Experts> experts;
  if (options.chosen > 0) {
    experts.emplace();
    experts->wide = weights.add("all.wide", type, Shape{36, 8});
    experts->narrow = weights.add("all.narrow", type, Shape{36, 8});
    experts->bias = bias_of(narrow_bias);
    experts->chosen = options.chosen;
    experts->function = options.activation;
  }
  const Weight router = experts ? weights.add("router", type, Shape{3, 8}) : Weight();

  GraphBuilder graph(weights.part());
  const Shape tokens{core::kDynamic, core::kDynamic};
  const Value ids = graph.add(Input{.name = "ids", .type = ElementType::kI64, .shape = tokens});
  const Value mask = graph.add(Input{.name = "mask", .type = ElementType::kI64, .shape = tokens});
  const Value word = graph.add(Lookup{.table = words, .ids = ids});
  const Value position = graph.add(PositionLookup{.table = positions, .ids = ids, .padding = options.padding});
  const Value kind = graph.add(RowLookup{.table = types, .row = 1});
  const Value place = graph.add(Add{.a = position, .b = kind});
  const Value sum = graph.add(Add{.a = word, .b = place});
  const Value x = graph.add(LayerNorm{.x = sum, .weight = scale, .bias = bias_of(shift), .epsilon = 1e-5});
  std::optional<LinearBias> linear_bias;
  if (!options.slopes.empty()) linear_bias = LinearBias{.slopes = options.slopes, .positions = 5};
  std::optional<Rotary> rotary;
  if (options.rotary) rotary = Rotary{rotary_frequencies(100, 4), 5, options.rotary_factor};
  std::vector<Value> parts;
  for (const auto& [weight, bias] : linears)
    parts.push_back(graph.add(Linear{.x = x, .weight = weight, .bias = bias_of(bias)}));
  if (options.short_convolution > 0)
    parts[0] = graph.add(ShortConvolution{.x = parts[0], .mask = mask, .weight = factors, .bias = bias_of(shift)});
  const Value context = graph.add(Attention{.query = parts[0],
                                            .key = parts[1],
                                            .value = parts[2],
                                            .mask = mask,
                                            .heads = 2,
                                            .scale = options.scale,
                                            .distance_bias = distances,
                                            .linear_bias = linear_bias,
                                            .rotary = rotary,
                                            .soft_cap = options.soft_cap,
                                            .window = options.window});
  // The same weights a second time.
  const Value middle =
      graph.add(LayerNorm{.x = graph.add(Add{.a = context, .b = x}), .weight = scale, .bias = shift, .epsilon = 1e-5});
  const auto feed_forward = [&] {
    if (experts) {
      experts->x = middle;
      experts->router = graph.add(Linear{.x = middle, .weight = router});
      return graph.add(*experts);
    }
    const Value inner = graph.add(Linear{.x = middle, .weight = wide, .bias = wide_bias});
    Value active = graph.add(Activation{.x = inner, .function = options.activation});
    if (options.gated) active = graph.add(Multiply{active, graph.add(Linear{.x = middle, .weight = gate})});
    return graph.add(Linear{.x = active, .weight = narrow, .bias = narrow_bias});
  };
  const Value states = feed_forward();
  if (!options.pooled) return std::move(graph).finish(states, "tokens");
  const Value pooled = graph.add(Pool{.x = states, .mask = mask, .mode = options.pooling});
  const Value vector = graph.add(Normalize{.x = pooled});
  if (options.has_all_outputs)
    return std::move(graph).finish({{middle, "inner"}, {states, "tokens"}, {pooled, "pooled"}, {vector, "vector"}});
  return std::move(graph).finish(vector, "vector");
}

// Three texts of 5, 2 and 1 tokens.
inline Inputs small_batch() {
  return {{"ids", {{3, 5}, {1, 2, 3, 4, 5, 6, 0, 5, 5, 5, 2, 6, 6, 6, 6}}},
          {"mask", {{3, 5}, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}}}};
}

}  // namespace latebind::graph::testing
