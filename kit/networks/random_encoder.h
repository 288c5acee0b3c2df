// Encoders of any size and make, for comparing devices with the reference evaluator.
#pragma once

#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/networks/encoder_shape.h"
#include "kit/networks/pattern_weights.h"

namespace latebind::kit {

// Makes the encoder that `shape` describes. It has the inputs of draw_batch() and the output "vector" [texts, columns],
// or "tokens" [texts, tokens, columns] if it is not pooled.
[[nodiscard]] core::Result<graph::Graph> encoder(const EncoderShape& shape, WeightMaker&& weights);
// The same on PatternWeights.
[[nodiscard]] core::Result<graph::Graph> encoder(const EncoderShape& shape);

}  // namespace latebind::kit
