#include "kit/networks/graph_model.h"

#include <memory>
#include <utility>

namespace latebind::kit {

core::ModelGraph model_graph_of(graph::Graph graph) {
  core::ModelGraph network;
  network.graph = std::make_shared<const graph::Graph>(std::move(graph));
  network.sources = {{.name = "weights.bin"}};
  return network;
}

core::Model model_of(graph::Graph graph, std::string name) {
  return core::Model::from_graph(std::move(name), model_graph_of(std::move(graph)));
}

}  // namespace latebind::kit
