// Writes a Graph as OpenVINO IR: XML text whose constants are byte ranges of one weights blob.
//
// Source: OpenVINO's documentation of IR version 11 and of its operation sets 1 to 8, which every OpenVINO since 2022
// reads. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/graph/graph.h"

namespace latebind::openvino {

struct Ir {
  std::string xml;
  // Constants that are not in the first weights file. The XML refers to them at `tail_offset` in the weights blob.
  std::string tail;
};

// Writes the graph. Weights keep their offsets in the first of Graph::weights(), since OpenVINO takes a single blob:
// the blob consists of that file's bytes and, from `tail_offset` on, the tail, which includes copies of the weights of
// other files.
//
// `packs_tokens` is only for a graph whose tokens can be packed; the network then has the inputs that
// core/graph/token_packing.h describes.
//
// `keeps_types` marks the conversions of f16 and bf16 weights as decompression. OpenVINO then keeps the stored type in
// memory when it computes in a type of that size, instead of converting all weights to f32 first.
struct IrOptions {
  bool packs_tokens = false;
  bool keeps_types = false;
};
[[nodiscard]] Ir write_ir(const graph::Graph& graph, std::size_t tail_offset, const IrOptions& options = {});

}  // namespace latebind::openvino
