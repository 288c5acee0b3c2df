// GraphModel: a model that a backend can load, built from a specification. Any thread may call the functions below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/bundle/package.h"
#include "core/graph/graph.h"
#include "core/model/model.h"
#include "core/result.h"
#include "embedding/folder/specification.h"

namespace latebind::embedding {

struct GraphOptions {
  // The names of the outputs, all computed in one pass. If empty, the model's own output.
  std::vector<std::string> outputs{};
  // If set, outputs that the network cannot pool (Output::pools_here()) are computed from the token vectors. Otherwise
  // the network pools all tokens, as in a file for other programs.
  bool pools_here = false;
};

// A network with the inputs `input_ids` and `attention_mask` (i64, [batch, tokens]). A network for pairs and a ready
// ONNX file may also have `token_type_ids`. Immutable after construction.
struct GraphModel {
  core::Model model;
  // The requested outputs, and the end from which each one takes its numbers. Several outputs may share an end.
  OutputList outputs{};
  std::vector<ModelEnd> ends{};
  std::size_t inputs = 0;  // the number of inputs
  // The mask may contain graph::kUnattended. Otherwise such tokens get 0 and are computed like others.
  bool may_be_unattended = false;
  // The assumption of the specification, if it has an effect: a ready ONNX file may pool by itself.
  std::string assumed{};

  // Returns whether all ends have one row for each text.
  [[nodiscard]] bool is_pooled() const { return std::ranges::all_of(ends, &ModelEnd::pooled); }
};

// Builds the network from the weights. Returns kInvalidModel for damaged or
// contradictory files, and kUnsupported for folders without weights that Latebind reads.
[[nodiscard]] core::Result<graph::Graph> make_graph(const Specification& model, const GraphOptions& options = {});

// Builds the network from the weights if the folder has them (they stay in the mapped file); otherwise takes the ready
// ONNX file. A model from a bundle includes the bundle's blobs.
[[nodiscard]] core::Result<GraphModel> build_model(const Specification& model, const GraphOptions& options = {});

// Returns the model of any bundle, with its blobs. If the bundle carries config.json and weights of a known
// architecture, this is the graph that build_model() makes of them: the network of its portable ONNX file, with the
// same inputs and outputs. Otherwise it is core::model_of_bundle(). Returns the errors of both, including those for
// damaged files.
[[nodiscard]] core::Result<core::Model> model_of_bundle(const core::Package& package);

}  // namespace latebind::embedding
