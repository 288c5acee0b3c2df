// What a ready ONNX file says about its outputs: as much of ModelProto as tells token vectors from a text's vector.
//
// Source: onnx.proto. Reads a few fields and skips the rest by its length; every length is checked, nothing is copied
// but names. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

struct OnnxOutput {
  std::string name;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where dynamic
};

struct OnnxSignature {
  std::vector<OnnxOutput> outputs;
  // Inputs that a caller gives: old files list the weights among the inputs, too.
  std::size_t inputs = 0;
};

// kInvalidModel when the bytes are no ONNX model. `name` stands for the file.
[[nodiscard]] core::Result<OnnxSignature> read_onnx_signature(std::span<const std::byte> bytes, std::string_view name);

struct OnnxEmbeddingOutput {
  std::size_t position = 0;
  bool pooled = false;        // [batch, dimension]; else [batch, tokens, dimension]
  std::size_t dimension = 0;  // 0 when the shape leaves it open
};

// Token vectors by their usual names (last_hidden_state, token_embeddings), else sentence_embedding, else the first
// output of rank 3 or 2. kUnsupported when there is none.
[[nodiscard]] core::Result<OnnxEmbeddingOutput> choose_embedding_output(const OnnxSignature& signature,
                                                                        std::string_view name);

}  // namespace latebind::embedding
