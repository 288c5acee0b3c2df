// RoBERTa, and XLM-RoBERTa and CamemBERT, which differ in their vocabularies: BERT with positions counted from the
// padding's id.
//
// Source: Liu et al., "RoBERTa: A Robustly Optimized BERT Pretraining Approach" (2019), with the tensor names and the
// positions of transformers' RobertaModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/bert.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_roberta(const core::Json& config,
                                                                        const std::filesystem::path& file);

// Reads the configuration, with the padding's id.
[[nodiscard]] core::Result<BertConfig> read_roberta_config(const core::Json& config, const std::filesystem::path& file);

}  // namespace latebind::embedding
