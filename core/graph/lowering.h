// Lowering: a Graph in terms of primitives, once for all formats. What vendors know to fuse (attention, GELU) is
// written as they expect it. Pure functions, for any thread.
#pragma once

#include "core/graph/graph.h"
#include "core/graph/primitives.h"

namespace latebind::graph {

// What differs between the primitives of formats.
struct FormatTraits {
  // MatMul takes its second matrix transposed; else that is a Transpose before it.
  bool matmul_transposes = true;
  // As core/graph/token_packing.h says; only for a graph whose tokens can be packed.
  bool packs_tokens = false;
};

[[nodiscard]] PrimitiveNetwork lower(const Graph& graph, const FormatTraits& format);

}  // namespace latebind::graph
