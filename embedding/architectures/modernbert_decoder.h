// ModernBERT's decoder: ModernBERT with causal attention, and with separate matrices for queries, keys and values.
//
// Source: Weller et al., "Seq vs Seq: An Open Suite of Paired Encoders and Decoders" (2025), with the tensor names and
// the configuration of transformers' ModernBertDecoderModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_modernbert_decoder(const core::Json& config,
                                                                                   const std::filesystem::path& file);

}  // namespace latebind::embedding
