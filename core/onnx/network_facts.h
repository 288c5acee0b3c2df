// NetworkFacts: what is known about one graph of a model and does not depend on the numbers that a caller gives. A
// value, computed once for each graph.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/onnx/network.h"
#include "core/onnx/takers.h"
#include "core/onnx/value_range.h"

namespace latebind::onnx {

struct NetworkFacts {
  // Reads small constants, and large ones that more than layers take as their weights: the range of weights matters to
  // no known error.
  [[nodiscard]] static NetworkFacts of(const Network& network);

  std::map<std::string, ValueRange, std::less<>> constants{};
  std::set<std::pair<std::string, std::string>> followers{};  // a tensor, and an operator that takes it
  std::map<std::string, std::string> makers{};                // a tensor, and the operator that makes it
  Takers takers{};  // only if a known error depends on them; of() leaves it empty
};

// Whether the node's attributes contain graphs, such as the branches of an If.
[[nodiscard]] bool has_networks(const Node& node);

}  // namespace latebind::onnx
