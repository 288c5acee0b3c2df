// EncoderShape: what a random encoder is made of. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "core/graph/operators.h"
#include "core/tensor/tensor.h"

namespace latebind::kit {

struct EncoderShape {
  std::int64_t hidden = 8;
  std::int64_t heads = 2;
  std::int64_t intermediate = 16;
  std::int64_t vocabulary = 50;
  std::int64_t positions = 64;
  int layers = 1;
  core::ElementType weights = core::ElementType::kF32;
  graph::ActivationFunction activation = graph::ActivationFunction::kGeluErf;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  bool pooled = true;
  bool normalize = true;
  std::optional<std::int64_t> dense = std::nullopt;    // the width of a layer after the pooling
  std::optional<std::int64_t> padding = std::nullopt;  // PositionLookup::padding
  std::int64_t buckets = 0;                            // rows of DistanceBias::table; 0: no such bias
  std::int64_t farthest = 0;                           // DistanceBias::farthest
  bool linear_bias = false;                            // ignored with `buckets`
  bool rotary = false;
  float rotary_factor = 1;
  std::optional<float> soft_cap = std::nullopt;  // ignored with `span`
  std::optional<std::int64_t> window = std::nullopt;
  bool gated = false;  // the wide part is multiplied by another one, and neither has a bias
  std::optional<std::int64_t> key_heads = std::nullopt;  // fewer than `heads`
  bool causal = false;
  bool may_be_unattended = false;
  // Disentangled::span; 0: no disentangled scores. Requires a key head for each head, no rotation and no bias.
  std::int64_t span = 0;
  std::optional<std::int64_t> span_farthest = std::nullopt;
  bool has_place_keys = true;
  bool has_place_queries = true;
  bool places_are_normal = false;  // the tables are normalised
  std::int64_t kernel = 0;         // the width of a Convolution beside the first layer; 0: none
  bool joint = false;              // queries and keys are columns of one product
  // As in decoders: RMS norms instead of layer norms, also of each head's queries and keys, and scaled words.
  bool rms = false;
  std::int64_t short_convolution = 0;  // the width of a ShortConvolution before each attention; 0: none
  std::int64_t experts = 0;            // replace the feed-forward part; 0: none
  std::int64_t chosen = 1;
};

// Draws the parts that most encoders have. The two functions below draw rarer parts; they are separate so that a seed
// keeps its encoders when parts are added.
[[nodiscard]] EncoderShape draw_shape(std::mt19937& chance);
// Adds linear biases, rotation factors, soft caps, short convolutions and experts.
void draw_biases_and_experts(std::mt19937& chance, EncoderShape& shape);
// Adds convolutions, joint products and disentangled scores, which replace biases and rotation.
void draw_convolution_and_disentangled(std::mt19937& chance, EncoderShape& shape);

}  // namespace latebind::kit
