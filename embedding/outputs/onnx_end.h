// Finds the output of a ready ONNX file that an Output needs: token vectors, a text's vector, or the numbers of a head.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/graph/onnx_reader.h"
#include "core/result.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

// Chooses token vectors by their usual names (last_hidden_state, token_embeddings), else sentence_embedding, else the
// first output of rank 3 or 2. The dimension of the result is 0 if the shape leaves it open. Returns kUnsupported if no
// output matches.
[[nodiscard]] core::Result<ModelEnd> choose_embedding_output(const graph::OnnxSignature& signature,
                                                             std::string_view name);

// Returns the position of `logits`, or of the only output, if it has this rank. `shape`, such as "[batch, labels]", is
// for the message. Returns kUnsupported if no output matches.
[[nodiscard]] core::Result<std::size_t> choose_logits_output(const graph::OnnxSignature& signature,
                                                             std::string_view name, std::size_t rank,
                                                             std::string_view shape);

// Returns the end with the vector of each text, or of each token if the file does not pool. Returns kInvalidModel if
// its dimension is unknown or contradicts the folder, and the errors of choose_embedding_output().
[[nodiscard]] core::Result<ModelEnd> find_vectors(const OnnxFile& file);
// The same for token vectors only. Returns kUnsupported if the file pools.
[[nodiscard]] core::Result<ModelEnd> find_token_states(const OnnxFile& file);
// Returns the error for modules with weights, which no ready file contains.
[[nodiscard]] core::Status refuse_modules_of_onnx(const OnnxFile& file);

}  // namespace latebind::embedding
