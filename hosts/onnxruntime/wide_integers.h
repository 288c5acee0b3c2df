// WideIntegers: which nodes of a graph compute with integers that may need more than 32 bits. OpenVINO computes those
// of 64 bits, and unsigned ones of 32, as 32 signed bits; such nodes are left to the host.
//
// A number is taken to fit where it comes from a shape, a comparison, an index, a narrower type, or a constant that
// does, through whatever operators: sizes of tensors fit. A number of a graph's input may be any. What only moves,
// selects or looks up such numbers is not left to the host, or no model with token ids were taken: ids and indices fit,
// and a caller with larger ones gets what 32 bits hold of them.
//
// Constant after construction; any thread.
#pragma once

#include <set>
#include <string>

#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

class WideIntegers {
 public:
  explicit WideIntegers(const GraphView& graph);

  // Why the node may need more than 32 bits, "" when it does not. The node is one of the graph's.
  [[nodiscard]] std::string refusal(const GraphView& graph, const NodeView& node) const;

 private:
  std::set<std::string> from_data_;  // values that depend on what a caller passes, not on its shape alone
  std::set<std::string> wide_;       // constants beyond 32 bits
};

}  // namespace latebind::provider
