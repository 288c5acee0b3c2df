// Mistral: Llama's network, with attention to the nearest `sliding_window` tokens only, where the file has that key.
//
// Source: Jiang et al., "Mistral 7B" (2023), with the tensor names and the configuration of transformers' MistralModel.
// Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_mistral(const core::Json& config,
                                                                        const std::filesystem::path& file);

}  // namespace latebind::embedding
