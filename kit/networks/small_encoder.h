// A small encoder that can contain every operator, and a batch for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/reference/array.h"

namespace latebind::kit {

struct SmallGraphOptions {
  core::ElementType weights = core::ElementType::kF32;
  graph::ActivationFunction activation = graph::ActivationFunction::kGeluErf;
  graph::PoolingMode pooling = graph::PoolingMode::kMean;
  bool pooled = true;            // false: token vectors
  bool has_all_outputs = false;  // before `vector`: `inner` [b,t,8], `tokens` [b,t,8] and `pooled` [b,8]
  float scale = 0.5F;
  std::optional<std::int64_t> padding = std::nullopt;   // PositionLookup::padding
  std::optional<std::int64_t> farthest = std::nullopt;  // DistanceBias::farthest; unset: no such bias
  std::vector<float> slopes{};                          // of a LinearBias, one for each of the two heads
  bool rotary = false;
  float rotary_factor = 1;
  std::optional<float> soft_cap = std::nullopt;
  std::optional<std::int64_t> window = std::nullopt;
  bool gated = false;                  // the wide part is multiplied by another one
  bool biases = true;                  // of norms and linears
  std::int64_t short_convolution = 0;  // the width of a convolution of the queries; 0: none
  std::int64_t chosen = 0;             // of three experts that replace the feed-forward part; 0: none
};

// Inputs `ids` (0 to 6) and `mask`, output `vector` [b,8] or `tokens` [b,t,8]; texts of up to 5 tokens.
[[nodiscard]] core::Result<graph::Graph> small_graph(const SmallGraphOptions& options = {});

// Three texts of 5, 2 and 1 tokens.
[[nodiscard]] Inputs small_batch();

}  // namespace latebind::kit
