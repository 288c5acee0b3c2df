// DeBERTa in its three versions: encoders with disentangled attention, which adds products of each token's content with
// a table of relative positions to the scores (graph::Disentangled). The second version groups distant positions, may
// share the projections of tokens and positions, and may have a convolution beside the first layer. The third version
// is the same network.
//
// Source: He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention" (2021), and "DeBERTaV3: Improving
// DeBERTa using ELECTRA-Style Pre-Training with Gradient-Disentangled Embedding Sharing" (2021), with the tensor names
// and defaults of transformers' DebertaModel and DebertaV2Model. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_deberta(const core::Json& config,
                                                                        const std::filesystem::path& file);
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_deberta_v2(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
