// The tokenizer of a model folder without a tokenizer.json. Internal to ModelFolder.
#pragma once

#include <filesystem>
#include <optional>

#include "core/json.h"
#include "core/result.h"
#include "embedding/model_files.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

// What makes it: of the files in `folder`, where config.json, the network's, and tokenizer_config.json are.
[[nodiscard]] core::Result<FoundTokenizer> find_tokenizer(const ModelFiles& files, const std::filesystem::path& folder,
                                                          const nlohmann::json& config,
                                                          const std::optional<nlohmann::json>& tokenizer_config);

}  // namespace latebind::embedding
