// GraphForm: a graph as a plug-in gets it (lbb_graph), with its weights where they are. docs/plugin-contract.md defines
// the operators and the names of their arguments, which come from core/graph/operator_members.h.
//
// Immutable; may be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/plugin/contract.h"
#include "core/model/model.h"
#include "core/model/part_reader.h"
#include "core/result.h"

namespace latebind::plugin {

class GraphForm {
 public:
  // Shares the ownership of the graph.
  explicit GraphForm(const core::ModelGraph& model);
  GraphForm(const GraphForm&) = delete;
  GraphForm& operator=(const GraphForm&) = delete;

  // Valid as long as this object lives.
  [[nodiscard]] const lbb_graph* get() const { return &shared_.graph; }
  // The object whose get() is this.
  [[nodiscard]] static const GraphForm* of(const lbb_graph* graph);

  // Returns ok when the files that the plug-in may open by their names are still those of the graph; kIo otherwise.
  [[nodiscard]] core::Status check_files() const;

  // See lbb_host.weight() and lbb_host.read_weight(). Null and kInvalidArgument for a weight that does not exist.
  [[nodiscard]] const void* weight(std::uint32_t number) const;
  [[nodiscard]] core::Status read_weight(std::uint32_t number, std::uint64_t offset, void* to,
                                         std::uint64_t size) const;

 private:
  class Writer;

  // What get() points to leads back to this object.
  struct Shared {
    lbb_graph graph;
    const GraphForm* form;
  };

  const std::shared_ptr<const graph::Graph> graph_;
  Shared shared_;
  // Deques, because the elements are referred to.
  std::deque<std::string> texts_;
  std::deque<lbb_argument> arguments_;
  std::deque<std::vector<const lbb_argument*>> lists_;
  std::deque<lbb_node> nodes_;
  std::deque<lbb_weight> weights_;
  std::deque<graph::Weight> sources_;  // of weights_
  std::deque<lbb_part> parts_;
  std::deque<lbb_graph_output> outputs_;
  std::vector<const lbb_node*> node_list_;
  std::vector<const lbb_weight*> weight_list_;
  std::vector<const lbb_part*> part_list_;
  std::vector<const lbb_graph_output*> output_list_;
  std::vector<core::PartReader> readers_;  // one for each part
};

}  // namespace latebind::plugin
