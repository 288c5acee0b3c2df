// Models of a graph on weights in memory, as backends load them.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/graph/graph.h"
#include "core/model/model.h"

namespace latebind::graph::testing {

// Of a graph whose weights are in one file, which is called weights.bin where a format names it.
inline core::ModelGraph model_graph_of(Graph graph) {
  core::ModelGraph network;
  network.graph = std::make_shared<const Graph>(std::move(graph));
  network.sources = {{.name = "weights.bin"}};
  return network;
}

inline core::Model model_of(Graph graph, std::string name = "small") {
  return core::Model::from_graph(std::move(name), model_graph_of(std::move(graph)));
}

}  // namespace latebind::graph::testing
