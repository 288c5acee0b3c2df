// OpenVINO IR from a Graph: XML text whose constants are byte ranges of one weights blob.
//
// Source: OpenVINO's documentation of IR version 11 and of its operation sets 1 to 8, which every OpenVINO since 2022
// reads. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/graph/graph.h"

namespace latebind::openvino {

struct Ir {
  std::string xml;
  // Constants that are not in the first weights file. The XML expects them in the weights blob at `tail_offset`.
  std::string tail;
};

// `packs_tokens`: only for a graph whose tokens can be packed; the network then has the inputs that
// core/graph/token_packing.h says.
//
// Weights keep the offsets that they have in the first of Graph::weights(): the blob is those bytes, then, from
// `tail_offset` on, the tail, with copies of the weights of the others: OpenVINO takes one blob.
[[nodiscard]] Ir write_ir(const graph::Graph& graph, std::size_t tail_offset, bool packs_tokens = false);

}  // namespace latebind::openvino
