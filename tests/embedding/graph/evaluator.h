// Computes a Graph for one batch, slowly and plainly: what the graph means, without any vendor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "embedding/graph/graph.h"

namespace latebind::embedding::testing {

// Numbers are doubles, whatever their type in the graph.
struct Array {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// The graph's output for `input_ids` and `attention_mask`, both [batch, tokens].
[[nodiscard]] Array evaluate(const Graph& graph, const Array& input_ids, const Array& attention_mask);

}  // namespace latebind::embedding::testing
