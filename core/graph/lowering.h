// Lowering: expresses a Graph in terms of primitives, once for all formats. Patterns that vendors can fuse (attention,
// GELU) are written in the form that vendors expect. Pure functions, for any thread.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/primitives.h"

namespace latebind::graph {

// The properties in which formats differ.
struct FormatTraits {
  // Whether MatMul takes its second matrix transposed; otherwise a Transpose is written before it.
  bool matmul_transposes = true;
  // Whether to pack tokens, as core/graph/token_packing.h describes. Only for a graph whose tokens can be packed.
  bool packs_tokens = false;
};

[[nodiscard]] PrimitiveNetwork lower(const Graph& graph, const FormatTraits& format);

}  // namespace latebind::graph
