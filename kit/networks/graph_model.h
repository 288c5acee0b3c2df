// Models of a graph whose weights are in memory, as backends load them.
#pragma once

#include <string>

#include "core/graph/graph.h"
#include "core/model/model.h"

namespace latebind::kit {

// For a graph with one file of weights. Forms that are written from the graph call that file "weights.bin".
[[nodiscard]] core::ModelGraph model_graph_of(graph::Graph graph);
[[nodiscard]] core::Model model_of(graph::Graph graph, std::string name = "small");

}  // namespace latebind::kit
