// Writes the graph that Latebind builds, as a file for other tools.
#pragma once

#include <filesystem>

#include "core/status.h"
#include "embedding/build_model.h"

namespace latebind::embedding {

// Writes one ONNX file that contains the weights (opset 20; inputs `input_ids` and `attention_mask`, i64 [batch,
// tokens]; output `sentence_embedding` or, for the output token_vectors, `last_hidden_state`). The weights are
// streamed, not held in memory twice. The file appears only when it is complete. Returns kUnsupported for folders
// without weights that Latebind reads, and for files beyond 2 GiB.
[[nodiscard]] core::Status write_onnx_file(const Specification& model, const GraphOptions& options,
                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
