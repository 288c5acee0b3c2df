// Jina Embeddings v5: Qwen3 ("small") or EuroBERT ("nano") with a LoRA adapter for each task in a folder beside it. Its
// own module pools the last token's vector and normalises it.
//
// Source: Akram et al., "jina-embeddings-v5-text: Task-Targeted Embedding Distillation" (2026), with the files of the
// published nano checkpoint. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_jina_v5(const core::Json& config,
                                                                        const std::filesystem::path& file);

}  // namespace latebind::embedding
