// The part of the reference evaluator that computes graph::Attention.
#pragma once

#include <functional>

#include "core/graph/operators.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// The values of the nodes and weights that an Attention names. Null where it names none.
struct AttentionOperands {
  const Array* query = nullptr;
  const Array* key = nullptr;
  const Array* value = nullptr;
  const Array* mask = nullptr;
  const Array* distance_bias = nullptr;         // the table
  const Array* disentangled_keys = nullptr;     // of Disentangled::keys
  const Array* disentangled_queries = nullptr;  // of Disentangled::queries
};

// `add(sum, term)` adds one term to a sum of products.
[[nodiscard]] Array attend(const graph::Attention& op, const AttentionOperands& operands,
                           const std::function<double(double, double)>& add);

}  // namespace latebind::kit
