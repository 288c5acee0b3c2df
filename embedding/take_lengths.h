// How many tokens a model folder's texts may have. Internal to ModelFolder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "core/json.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/encoder_kind.h"
#include "embedding/model_files.h"

namespace latebind::embedding {

// The fewest that a text has: [CLS] and [SEP].
inline constexpr std::size_t kTokensMin = 2;

// The longest text that the network takes, or, where it is not known, that config.json says it has positions for.
[[nodiscard]] core::Result<std::size_t> count_positions(const nlohmann::json& config,
                                                        const std::filesystem::path& config_file,
                                                        const Network* network);

// What modules.json's companion says, else what the tokenizer's does, and at most `position_count`. `transformer`: the
// folder of both. kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<std::size_t> read_max_tokens(const ConfigFile& of_transformer,
                                                        const std::filesystem::path& transformer,
                                                        const std::optional<nlohmann::json>& tokenizer_config,
                                                        std::size_t position_count);

// The same of static embeddings, which take any number of tokens: what this tokenizer.json cuts a text to, and at most
// `most`.
[[nodiscard]] core::Result<std::size_t> read_truncation(const ModelFiles& files, const std::filesystem::path& file,
                                                        std::size_t most);

}  // namespace latebind::embedding
