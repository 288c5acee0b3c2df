// MPNet: an encoder with a bucketed bias for the distance between tokens, and positions counted from the padding's id.
//
// Source: Song et al., "MPNet: Masked and Permuted Pre-training for Language Understanding" (2020), with the tensor
// names, the buckets and the padding's id of transformers' MPNetModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_mpnet(const core::Json& config,
                                                                      const std::filesystem::path& file);

}  // namespace latebind::embedding
