// Which output of a ready ONNX file has what an Output needs: vectors of tokens, a text's own, or the numbers of a
// head.
//
// Pure functions; safe for concurrent use.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/graph/onnx_reader.h"
#include "core/result.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

// Token vectors by their usual names (last_hidden_state, token_embeddings), else sentence_embedding, else the first
// output of rank 3 or 2. Its dimension is 0 where the shape leaves it open. kUnsupported where there is none.
[[nodiscard]] core::Result<ModelEnd> choose_embedding_output(const graph::OnnxSignature& signature,
                                                             std::string_view name);

// The position of `logits`, else of the only output, of this shape: "[batch, labels]". kUnsupported where there is
// none.
[[nodiscard]] core::Result<std::size_t> choose_logits_output(const graph::OnnxSignature& signature,
                                                             std::string_view name, std::size_t rank,
                                                             std::string_view shape);

// The end with the vector of each text, or of each token where the file does not pool. kInvalidModel where its
// dimension is unknown or contradicts the folder.
[[nodiscard]] core::Result<ModelEnd> find_vectors(const OnnxFile& file);
// The same for vectors of tokens alone. kUnsupported where the file pools.
[[nodiscard]] core::Result<ModelEnd> find_token_states(const OnnxFile& file);
// The error for modules with weights, which no ready file has.
[[nodiscard]] core::Status refuse_modules_of_onnx(const OnnxFile& file);

}  // namespace latebind::embedding
