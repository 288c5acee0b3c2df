// DistilBERT: BERT's encoder without token types and with different names.
//
// Source: Sanh et al., "DistilBERT, a distilled version of BERT" (2019), with the tensor names of transformers'
// DistilBertModel. A pure function, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_distilbert(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
