// LFM2: a decoder whose layers have either grouped-query attention or a short convolution between two gates. RMS norms
// precede the parts of a layer and normalize each head's queries and keys; feed-forward parts are gated.
//
// Source: Liquid AI, "LFM2 Technical Report" (2025), with the tensor names and the configuration of transformers'
// Lfm2Model. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_lfm2(const core::Json& config,
                                                                     const std::filesystem::path& file);

}  // namespace latebind::embedding
