// Longformer: RoBERTa with attention in a window. Without a head, the reference gives no token global attention, so the
// separate matrices of global tokens are not used.
//
// Source: Beltagy et al., "Longformer: The Long-Document Transformer" (2020), with the tensor names and the
// configuration of transformers' LongformerModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_longformer(const core::Json& config,
                                                                           const std::filesystem::path& file);

}  // namespace latebind::embedding
