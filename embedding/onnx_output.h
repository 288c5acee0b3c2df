// Which output of an existing ONNX file has the vectors: token vectors, or a text's own; or the numbers of
// cross-encoders and sparse encoders. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/graph/onnx_reader.h"
#include "core/result.h"

namespace latebind::embedding {

struct OnnxEmbeddingOutput {
  std::size_t position = 0;
  bool pooled = false;        // [batch, dimension]; else [batch, tokens, dimension]
  std::size_t dimension = 0;  // 0 when the shape leaves it open
};

// Token vectors by their usual names (last_hidden_state, token_embeddings), else sentence_embedding, else the first
// output of rank 3 or 2. kUnsupported when there is none.
[[nodiscard]] core::Result<OnnxEmbeddingOutput> choose_embedding_output(const graph::OnnxSignature& signature,
                                                                        std::string_view name);

// The position of `logits`, else of the only output, of this shape: "[batch, labels]". kUnsupported when there is none.
[[nodiscard]] core::Result<std::size_t> choose_logits_output(const graph::OnnxSignature& signature,
                                                             std::string_view name, std::size_t rank,
                                                             std::string_view shape);

}  // namespace latebind::embedding
