// XLM-RoBERTa-XL: RoBERTa's embeddings without a norm, pre-norm layers, and a norm at the end.
//
// Source: Goyal et al., "Larger-Scale Transformers for Multilingual Masked Language Modeling" (2021), with the tensor
// names and the configuration of transformers' XLMRobertaXLModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_xlm_roberta_xl(const core::Json& config,
                                                                               const std::filesystem::path& file);

}  // namespace latebind::embedding
