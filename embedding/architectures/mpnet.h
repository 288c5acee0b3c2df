// MPNet: an encoder whose attention knows the distance between two tokens, in buckets, and whose positions are counted
// from the padding's id on.
//
// Source: Song et al., "MPNet: Masked and Permuted Pre-training for Language Understanding" (2020), with the tensor
// names, the buckets and the padding's id of transformers' MPNetModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// As Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_mpnet(const nlohmann::json& config,
                                                                      const std::filesystem::path& file);

}  // namespace latebind::embedding
