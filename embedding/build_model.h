// From a model folder to a model that a backend can load.
#pragma once

#include <cstddef>
#include <string>

#include "core/bundle/package.h"
#include "core/graph/graph.h"
#include "core/model.h"
#include "core/result.h"
#include "embedding/model_folder.h"

namespace latebind::embedding {

struct GraphOptions {
  // The network's token vectors [batch, tokens, hidden] instead of the pooled and possibly normalised vector [batch,
  // hidden].
  bool hidden_states = false;
};

// A network with the inputs `input_ids` and `attention_mask` (i64, [batch, tokens]; a cross-encoder and a ready ONNX
// file may also want `token_type_ids`) and one output.
struct GraphModel {
  core::Model model;
  // True: the output is the text's vector, pooled and normalised as the folder says, or a cross-encoder's numbers.
  // False: token vectors, to be pooled, or those of a multi-vector encoder.
  bool pooled = false;
  // The mask may have graph::kUnattended; where it may not, tokens that have it get 0 and are computed all the same.
  bool may_be_unattended = false;
  std::size_t dimension = 0;
  // How many inputs it has.
  std::size_t inputs = 0;
  // What the folder assumes (ModelFolder::assumed), where it has an effect: a ready ONNX file may pool by itself.
  std::string assumed{};
  // The position of that output: a ready ONNX file may have others beside it.
  std::size_t output = 0;
};

// The network of the folder's weights, model.safetensors or its pieces. kInvalidModel and kUnsupported, the latter for
// folders without weights that Latebind reads.
[[nodiscard]] core::Result<graph::Graph> make_graph(const ModelFolder& folder, const GraphOptions& options);

// From a bundle with its blobs. Takes model.safetensors where the folder has it (weights stay in the mapped file), else
// the ready ONNX file.
[[nodiscard]] core::Result<GraphModel> build_model(const ModelFolder& folder, const GraphOptions& options);

// The model of any bundle, with its blobs. Where it carries config.json and weights of a known architecture, it is the
// graph that build_model() makes of them: the network of its portable ONNX file, with the same inputs and outputs.
// Otherwise core::model_of_bundle(). The errors of both, those of files that are damaged among them.
[[nodiscard]] core::Result<core::Model> model_of_bundle(const core::Package& package);

}  // namespace latebind::embedding
