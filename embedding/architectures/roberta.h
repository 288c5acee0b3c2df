// RoBERTa, and XLM-RoBERTa and CamemBERT, which are RoBERTa with other vocabularies: BERT whose positions are counted
// from the padding's id on.
//
// Source: Liu et al., "RoBERTa: A Robustly Optimized BERT Pretraining Approach" (2019), with the tensor names and the
// positions of transformers' RobertaModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_roberta(const nlohmann::json& config,
                                                                        const std::filesystem::path& file);

}  // namespace latebind::embedding
