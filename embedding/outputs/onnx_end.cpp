#include "embedding/outputs/onnx_end.h"

#include <fmt/format.h>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

Result<ModelEnd> choose_embedding_output(const graph::OnnxSignature& signature, std::string_view name) {
  const auto& outputs = signature.outputs;
  const auto chosen = [&](std::size_t position, bool pooled) {
    const auto& shape = outputs[position].shape;
    const std::int64_t last = shape.empty() ? -1 : shape.back();
    return ModelEnd{position, pooled, last > 0 ? static_cast<std::size_t>(last) : 0};
  };
  struct Known {
    std::string_view name;
    bool pooled;
  };
  for (const Known& known :
       {Known{"last_hidden_state", false}, Known{"token_embeddings", false}, Known{"sentence_embedding", true}}) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const bool fits = !outputs[i].has_shape || outputs[i].shape.size() == (known.pooled ? 2U : 3U);
      if (outputs[i].name == known.name && fits) return chosen(i, known.pooled);
    }
  }
  for (const std::size_t rank : {3U, 2U}) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].has_shape && outputs[i].shape.size() == rank) return chosen(i, rank == 2);
    }
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: no output is [batch, tokens, hidden] or [batch, hidden]; the first is '{}'", name,
                            core::printable(outputs.front().name)));
}

Result<std::size_t> choose_logits_output(const graph::OnnxSignature& signature, std::string_view name, std::size_t rank,
                                         std::string_view shape) {
  const auto& outputs = signature.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool fits = !outputs[i].has_shape || outputs[i].shape.size() == rank;
    if (fits && (outputs[i].name == "logits" || outputs.size() == 1)) return i;
  }
  return Status(StatusCode::kUnsupported, fmt::format("{}: no output 'logits' is {}; the first is '{}'", name, shape,
                                                      core::printable(outputs.front().name)));
}

Result<ModelEnd> find_vectors(const OnnxFile& file) {
  LB_ASSIGN_OR_RETURN(ModelEnd end, choose_embedding_output(file.signature, file.name));
  const std::size_t hidden_size = file.network.hidden_size;
  if (end.dimension == 0) end.dimension = hidden_size;
  if (end.dimension == 0) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: neither the output's shape nor 'hidden_size' in config.json says how long a vector "
                              "is",
                              file.name));
  }
  // A module may have made a text's vector shorter; a token's vector has the network's dimension.
  if (!end.pooled && hidden_size != 0 && end.dimension != hidden_size) {
    return Status(
        StatusCode::kInvalidModel,
        fmt::format("{}: its output '{}' has {} numbers for a token; config.json or the pooling's says {}", file.name,
                    core::printable(file.signature.outputs[end.position].name), end.dimension, hidden_size));
  }
  return end;
}

Result<ModelEnd> find_token_states(const OnnxFile& file) {
  LB_ASSIGN_OR_RETURN(const ModelEnd end, choose_embedding_output(file.signature, file.name));
  if (!end.pooled) return find_vectors(file);
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: its output '{}' is pooled, it gives no token vectors", file.name,
                            core::printable(file.signature.outputs[end.position].name)));
}

Status refuse_modules_of_onnx(const OnnxFile& file) {
  return {StatusCode::kUnsupported, fmt::format("{}: modules with weights after the pooling need the network's "
                                                "model.safetensors",
                                                file.name)};
}

}  // namespace latebind::embedding
