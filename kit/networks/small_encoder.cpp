#include "kit/networks/small_encoder.h"

#include <string>
#include <utility>

#include "kit/networks/pattern_weights.h"

namespace latebind::kit {
namespace {

using core::ElementType;
using core::Shape;
using graph::Value;
using graph::Weight;

constexpr std::int64_t kPositions = 5;

// All weights, whether or not the options use them. Their order decides their values, so a new one goes to the end.
struct SmallWeights {
  explicit SmallWeights(const SmallGraphOptions& options) : type(options.weights) {
    words = make("words", {7, 8});
    // With padding, the positions of tokens follow those up to the padding's.
    positions = make("positions", {kPositions + (options.padding ? *options.padding + 1 : 0), 8});
    types = make("types", {2, 8});
    norm = {make("norm.weight", {8}), make("norm.bias", {8})};
    query = linear("query", 8, 8);
    key = linear("key", 8, 8);
    value = linear("value", 8, 8);
    wide = linear("wide", 8, 12);
    narrow = linear("narrow", 12, 8);
    if (options.farthest) distances = make("distances", {8, 2});
    if (options.gated) gate = make("gate.weight", {12, 8});
    if (options.short_convolution > 0) factors = make("factors", {8, options.short_convolution});
    if (options.chosen > 0) {
      wide_of_all = make("all.wide", {36, 8});
      narrow_of_all = make("all.narrow", {36, 8});
      router = make("router", {3, 8});
    }
  }

  Weight make(const char* name, const Shape& shape) { return maker.add(name, type, shape); }
  WeightPair linear(const std::string& name, std::int64_t in, std::int64_t out) {
    return {maker.add(name + ".weight", type, Shape{out, in}), maker.add(name + ".bias", type, Shape{out})};
  }

  ElementType type;
  PatternWeights maker{};
  Weight words{}, positions{}, types{};
  WeightPair norm{}, query{}, key{}, value{}, wide{}, narrow{};
  Weight distances{}, gate{}, factors{}, wide_of_all{}, narrow_of_all{}, router{};
};

class SmallBuilder {
 public:
  SmallBuilder(const SmallGraphOptions& options, const SmallWeights& weights)
      : options_(options), weights_(weights), graph_(weights.maker.part()) {}

  core::Result<graph::Graph> run() && {
    const Shape tokens{core::kDynamic, core::kDynamic};
    const Value ids = graph_.add(graph::Input{.name = "ids", .type = ElementType::kI64, .shape = tokens});
    mask_ = graph_.add(graph::Input{.name = "mask", .type = ElementType::kI64, .shape = tokens});
    const Value word = graph_.add(graph::Lookup{.table = weights_.words, .ids = ids});
    const Value position =
        graph_.add(graph::PositionLookup{.table = weights_.positions, .ids = ids, .padding = options_.padding});
    const Value type = graph_.add(graph::RowLookup{.table = weights_.types, .row = 1});
    const Value place = graph_.add(graph::Add{.a = position, .b = type});
    const Value sum = graph_.add(graph::Add{.a = word, .b = place});
    const Value x = graph_.add(
        graph::LayerNorm{.x = sum, .weight = weights_.norm.weight, .bias = bias_of(weights_.norm), .epsilon = 1e-5});
    const Value context = attend(x);
    // Uses the norm's weights a second time.
    const Value middle = graph_.add(graph::LayerNorm{.x = graph_.add(graph::Add{.a = context, .b = x}),
                                                     .weight = weights_.norm.weight,
                                                     .bias = weights_.norm.bias,
                                                     .epsilon = 1e-5});
    const Value states = feed_forward(middle);
    if (!options_.pooled) return std::move(graph_).finish(states, "tokens");
    const Value pooled = graph_.add(graph::Pool{.x = states, .mask = mask_, .mode = options_.pooling});
    const Value vector = graph_.add(graph::Normalize{.x = pooled});
    if (options_.has_all_outputs)
      return std::move(graph_).finish({{middle, "inner"}, {states, "tokens"}, {pooled, "pooled"}, {vector, "vector"}});
    return std::move(graph_).finish(vector, "vector");
  }

 private:
  [[nodiscard]] std::optional<Weight> bias_of(const WeightPair& pair) const {
    return options_.biases ? std::optional(pair.bias) : std::nullopt;
  }
  Value apply(Value x, const WeightPair& linear) {
    return graph_.add(graph::Linear{.x = x, .weight = linear.weight, .bias = bias_of(linear)});
  }

  Value attend(Value x) {
    graph::Attention op{};
    op.query = apply(x, weights_.query);
    op.key = apply(x, weights_.key);
    op.value = apply(x, weights_.value);
    if (options_.short_convolution > 0) {
      op.query = graph_.add(graph::ShortConvolution{
          .x = op.query, .mask = mask_, .weight = weights_.factors, .bias = bias_of(weights_.norm)});
    }
    op.mask = mask_;
    op.heads = 2;
    op.key_heads = 2;
    op.scale = options_.scale;
    if (options_.farthest) op.distance_bias = graph::DistanceBias{weights_.distances, *options_.farthest};
    if (!options_.slopes.empty()) op.linear_bias = graph::LinearBias{options_.slopes, kPositions};
    if (options_.rotary)
      op.rotary = graph::Rotary{graph::rotary_frequencies(100, 4), kPositions, options_.rotary_factor};
    op.soft_cap = options_.soft_cap;
    op.window = options_.window;
    return graph_.add(op);
  }

  Value feed_forward(Value middle) {
    if (options_.chosen > 0) {
      const Value router = graph_.add(graph::Linear{.x = middle, .weight = weights_.router});
      return graph_.add(graph::Experts{.x = middle,
                                       .router = router,
                                       .wide = weights_.wide_of_all,
                                       .narrow = weights_.narrow_of_all,
                                       .bias = bias_of(weights_.narrow),
                                       .chosen = options_.chosen,
                                       .function = options_.activation});
    }
    const Value inner =
        graph_.add(graph::Linear{.x = middle, .weight = weights_.wide.weight, .bias = weights_.wide.bias});
    Value active = graph_.add(graph::Activation{.x = inner, .function = options_.activation});
    if (options_.gated)
      active = graph_.add(graph::Multiply{active, graph_.add(graph::Linear{.x = middle, .weight = weights_.gate})});
    return graph_.add(graph::Linear{.x = active, .weight = weights_.narrow.weight, .bias = weights_.narrow.bias});
  }

  const SmallGraphOptions& options_;
  const SmallWeights& weights_;
  graph::GraphBuilder graph_;
  Value mask_;
};

}  // namespace

core::Result<graph::Graph> small_graph(const SmallGraphOptions& options) {
  const SmallWeights weights(options);
  return SmallBuilder(options, weights).run();
}

Inputs small_batch() {
  return {{"ids", {{3, 5}, {1, 2, 3, 4, 5, 6, 0, 5, 5, 5, 2, 6, 6, 6, 6}}},
          {"mask", {{3, 5}, {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0}}}};
}

}  // namespace latebind::kit
