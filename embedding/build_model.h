// GraphModel: what a backend can load, built from a specification.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "core/bundle/package.h"
#include "core/graph/graph.h"
#include "core/model.h"
#include "core/result.h"
#include "embedding/folder/specification.h"

namespace latebind::embedding {

struct GraphOptions {
  // The names of the outputs, all of which one pass gives. Empty: the model's own.
  std::vector<std::string> outputs{};
  // Outputs that the network cannot pool (Output::pools_here()) are computed from the vectors of tokens. Without it the
  // network pools all tokens, as in a file for other programs.
  bool pools_here = false;
};

// A network with the inputs `input_ids` and `attention_mask` (i64, [batch, tokens]); a network for pairs and a ready
// ONNX file may also have `token_type_ids`. Immutable in use.
struct GraphModel {
  core::Model model;
  // The outputs that were asked for, and where each finds its numbers. Several may share an end.
  OutputList outputs{};
  std::vector<ModelEnd> ends{};
  std::size_t inputs = 0;  // how many there are
  // The mask may have graph::kUnattended. Without it, such tokens get 0 and are computed all the same.
  bool may_be_unattended = false;
  // The assumption of the specification, where it has an effect: a ready ONNX file may pool by itself.
  std::string assumed{};

  // Whether all ends have a row for each text.
  [[nodiscard]] bool is_pooled() const { return std::ranges::all_of(ends, &ModelEnd::pooled); }
};

// The network made of the weights, model.safetensors or its pieces. kInvalidModel; kUnsupported for folders without
// weights that Latebind reads.
[[nodiscard]] core::Result<graph::Graph> make_graph(const Specification& model, const GraphOptions& options = {});

// Takes model.safetensors where the folder has it (the weights stay in the mapped file), else the ready ONNX file. A
// model from a bundle comes with the bundle's blobs.
[[nodiscard]] core::Result<GraphModel> build_model(const Specification& model, const GraphOptions& options = {});

// The model of any bundle, with its blobs. Where the bundle carries config.json and weights of a known architecture,
// this is the graph that build_model() makes of them: the network of its portable ONNX file, with the same inputs and
// outputs. Otherwise it is core::model_of_bundle(). Returns the errors of both, also those of damaged files.
[[nodiscard]] core::Result<core::Model> model_of_bundle(const core::Package& package);

}  // namespace latebind::embedding
