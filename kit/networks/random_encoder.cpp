#include "kit/networks/random_encoder.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace latebind::kit {
namespace {

using core::ElementType;
using core::Shape;
using graph::Value;
using graph::Weight;

struct LayerWeights {
  WeightPair query, key, value, output, wide, narrow;
  WeightPair norm, last_norm;
  Weight gate, query_norm, key_norm;
  Weight short_convolution, router, wide_of_all, narrow_of_all;
};

// The tables of disentangled scores are computed from these for each layer.
struct PlaceWeights {
  WeightPair keys, queries;
};

// All weights of an encoder. Their order decides their values, so a new one goes to the end.
class EncoderWeights {
 public:
  EncoderWeights(const EncoderShape& shape, WeightMaker& maker) : shape_(shape), maker_(maker) {
    const std::int64_t h = shape.hidden;
    words = make({shape.vocabulary, h});
    positions = make({shape.positions + (shape.padding ? *shape.padding + 1 : 0), h});
    if (shape.buckets > 0) distances = make({shape.buckets, shape.heads});
    types = make({2, h});
    first_norm = norm();
    for (int i = 0; i < shape.layers; ++i)
      layers.push_back(layer());
    if (shape.span > 0) {
      places_table = make({2 * shape.span, h});
      for (int i = 0; i < shape.layers; ++i)
        places.push_back({linear(h, h), linear(h, h)});
    }
    if (shape.kernel > 0) convolution = WeightPair{make({h, h, shape.kernel}), make({h})};
    if (shape.joint) joint = make({2 * h, h});
    if (shape.dense) dense = linear(h, *shape.dense);
  }

  Weight words, positions, distances, types;
  WeightPair first_norm;
  std::vector<LayerWeights> layers;
  Weight places_table;
  std::vector<PlaceWeights> places;
  std::optional<WeightPair> convolution;
  Weight joint;
  std::optional<WeightPair> dense;

 private:
  Weight make(const Shape& dims) { return maker_.add(fmt::format("w{}", number_++), shape_.weights, dims); }
  WeightPair linear(std::int64_t in, std::int64_t out) { return {make({out, in}), make({out})}; }
  WeightPair norm() { return {make({shape_.hidden}), make({shape_.hidden})}; }

  LayerWeights layer() {
    const std::int64_t h = shape_.hidden;
    const std::int64_t head = h / shape_.heads;
    const std::int64_t keys = head * shape_.key_heads.value_or(shape_.heads);
    const std::int64_t wide = shape_.intermediate;
    return {linear(h, h),
            linear(h, keys),
            linear(h, keys),
            linear(h, h),
            linear(h, wide),
            linear(wide, h),
            norm(),
            norm(),
            shape_.gated ? make({wide, h}) : Weight(),
            shape_.rms ? make({head}) : Weight(),
            shape_.rms ? make({head}) : Weight(),
            shape_.short_convolution > 0 ? make({h, shape_.short_convolution}) : Weight(),
            shape_.experts > 0 ? make({shape_.experts, h}) : Weight(),
            shape_.experts > 0 ? make({shape_.experts * wide, h}) : Weight(),
            shape_.experts > 0 ? make({shape_.experts * wide, h}) : Weight()};
  }

  const EncoderShape& shape_;
  WeightMaker& maker_;
  int number_ = 0;
};

class EncoderBuilder {
 public:
  EncoderBuilder(const EncoderShape& shape, const EncoderWeights& weights, core::FilePart part)
      : shape_(shape), weights_(weights), graph_(std::move(part)) {}

  core::Result<graph::Graph> run() && {
    const Shape tokens{core::kDynamic, core::kDynamic};
    ids_ = graph_.add(graph::Input{"ids", ElementType::kI64, tokens});
    mask_ = graph_.add(graph::Input{"mask", ElementType::kI64, tokens});
    Value x = embed();
    const Value first = x;
    if (shape_.span > 0) {
      places_ = graph_.add(graph::WholeTable{weights_.places_table});
      if (shape_.places_are_normal) {
        places_ = graph_.add(
            graph::LayerNorm{.x = *places_, .weight = weights_.first_norm.weight, .bias = weights_.first_norm.bias});
      }
    }
    for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
      x = layer(x, i);
      if (weights_.convolution && i == 0) x = add_convolution(first, x);
    }
    return std::move(*this).finish(x);
  }

 private:
  Value embed() {
    const Value place =
        graph_.add(graph::Add{graph_.add(graph::PositionLookup{weights_.positions, ids_, shape_.padding}),
                              graph_.add(graph::RowLookup{weights_.types, 1})});
    Value word = graph_.add(graph::Lookup{weights_.words, ids_});
    if (shape_.rms) word = graph_.add(graph::Scale{.x = word, .factor = 1.5F});
    return norm(graph_.add(graph::Add{word, place}), weights_.first_norm);
  }

  Value layer(Value x, std::size_t i) {
    const LayerWeights& layer = weights_.layers[i];
    if (shape_.short_convolution > 0) {
      x = graph_.add(
          graph::ShortConvolution{.x = x, .mask = mask_, .weight = layer.short_convolution, .bias = layer.norm.bias});
    }
    const Value context = attend(x, i);
    const Value middle = norm(graph_.add(graph::Add{apply(context, layer.output), x}), layer.norm);
    return norm(graph_.add(graph::Add{feed_forward(middle, layer), middle}), layer.last_norm);
  }

  Value attend(Value x, std::size_t i) {
    const LayerWeights& layer = weights_.layers[i];
    const std::int64_t head = shape_.hidden / shape_.heads;
    graph::Attention op{};
    op.mask = mask_;
    op.heads = shape_.heads;
    op.key_heads = shape_.key_heads.value_or(shape_.heads);
    if (!shape_.joint) {
      op.query = apply(x, layer.query);
      op.key = apply(x, layer.key);
    } else {
      const Value both = graph_.add(graph::Linear{.x = x, .weight = weights_.joint});
      op.query = graph_.add(graph::Columns{.x = both, .width = 2 * head, .first = 0, .count = head});
      op.key = graph_.add(graph::Columns{.x = both, .width = 2 * head, .first = head, .count = head});
    }
    op.disentangled = disentangled(i);
    if (shape_.rms) {
      op.query = rms_norm(op.query, layer.query_norm);
      op.key = rms_norm(op.key, layer.key_norm);
    }
    op.value = apply(x, layer.value);
    // A score with three products must stay far below the value that hides masked tokens in some formats.
    const float less = places_ ? 0.25F : 1.0F;
    op.scale = less / std::sqrt(static_cast<float>(shape_.hidden) / static_cast<float>(shape_.heads));
    if (shape_.buckets > 0) op.distance_bias = graph::DistanceBias{weights_.distances, shape_.farthest};
    op.linear_bias = linear_bias();
    if (shape_.rotary)
      op.rotary = graph::Rotary{graph::rotary_frequencies(10000, head), shape_.positions, shape_.rotary_factor};
    if (!places_) op.soft_cap = shape_.soft_cap;
    op.window = shape_.window;
    op.causal = shape_.causal;
    op.may_be_unattended = shape_.may_be_unattended;
    return graph_.add(op);
  }

  std::optional<graph::Disentangled> disentangled(std::size_t i) {
    if (!places_) return std::nullopt;
    graph::Disentangled terms{.span = shape_.span, .farthest = shape_.span_farthest};
    if (shape_.has_place_keys) terms.keys = apply(*places_, weights_.places[i].keys);
    if (shape_.has_place_queries) terms.queries = apply(*places_, weights_.places[i].queries);
    return terms;
  }

  [[nodiscard]] std::optional<graph::LinearBias> linear_bias() const {
    if (!shape_.linear_bias || shape_.buckets > 0) return std::nullopt;
    graph::LinearBias bias{{}, shape_.positions};
    for (std::int64_t i = 0; i < shape_.heads; ++i)
      bias.slopes.push_back(1.0F / static_cast<float>(2 + i));
    return bias;
  }

  Value feed_forward(Value middle, const LayerWeights& layer) {
    if (shape_.experts > 0) {
      const Value router = graph_.add(graph::Linear{.x = middle, .weight = layer.router});
      return graph_.add(graph::Experts{.x = middle,
                                       .router = router,
                                       .wide = layer.wide_of_all,
                                       .narrow = layer.narrow_of_all,
                                       .bias = layer.narrow.bias,
                                       .chosen = shape_.chosen,
                                       .function = shape_.activation});
    }
    const Value wide =
        shape_.gated ? graph_.add(graph::Linear{.x = middle, .weight = layer.wide.weight}) : apply(middle, layer.wide);
    Value active = graph_.add(graph::Activation{wide, shape_.activation});
    if (shape_.gated)
      active = graph_.add(graph::Multiply{active, graph_.add(graph::Linear{.x = middle, .weight = layer.gate})});
    return apply(active, layer.narrow);
  }

  Value add_convolution(Value first, Value x) {
    const Value near = graph_.add(graph::Convolution{
        .x = first, .mask = mask_, .weight = weights_.convolution->weight, .bias = weights_.convolution->bias});
    return norm(graph_.add(graph::Add{tanh(near), x}), weights_.first_norm);
  }

  core::Result<graph::Graph> finish(Value x) && {
    if (shape_.pooled) x = graph_.add(graph::Pool{x, mask_, shape_.pooling});
    // An encoder of token vectors ends here, unless some of its tokens are unattended.
    if (shape_.pooled || shape_.may_be_unattended) {
      if (weights_.dense) x = tanh(apply(x, *weights_.dense));
      if (shape_.normalize) x = graph_.add(graph::Normalize{x});
    }
    return std::move(graph_).finish(x, shape_.pooled ? "vector" : "tokens");
  }

  Value apply(Value x, const WeightPair& linear) {
    return graph_.add(graph::Linear{.x = x, .weight = linear.weight, .bias = linear.bias});
  }
  Value tanh(Value x) { return graph_.add(graph::Activation{x, graph::ActivationFunction::kTanh}); }
  Value rms_norm(Value x, const Weight& weight) {
    const float offset = shape_.causal ? 1.0F : 0.0F;
    return graph_.add(graph::RmsNorm{.x = x, .weight = weight, .offset = offset, .epsilon = 1e-5});
  }
  Value norm(Value x, const WeightPair& weights) {
    if (shape_.rms) return rms_norm(x, weights.weight);
    return graph_.add(graph::LayerNorm{.x = x, .weight = weights.weight, .bias = weights.bias, .epsilon = 1e-5});
  }

  const EncoderShape& shape_;
  const EncoderWeights& weights_;
  graph::GraphBuilder graph_;
  Value ids_;
  Value mask_;
  std::optional<Value> places_;
};

}  // namespace

core::Result<graph::Graph> encoder(const EncoderShape& shape, WeightMaker&& weights) {
  const EncoderWeights all(shape, weights);
  return EncoderBuilder(shape, all, weights.part()).run();
}

core::Result<graph::Graph> encoder(const EncoderShape& shape) {
  return encoder(shape, PatternWeights());
}

}  // namespace latebind::kit
