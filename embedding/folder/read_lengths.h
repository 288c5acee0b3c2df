// Reads how many tokens the texts of a model may have. Pure functions of the files; any thread may call them.
#pragma once

#include <cstddef>
#include <filesystem>

#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/folder_contents.h"

namespace latebind::embedding {

// The minimum number of tokens of a text: [CLS] and [SEP].
inline constexpr std::size_t kTokensMin = 2;

// Returns the longest text that the network accepts. If the network is unknown (null), config.json gives the number of
// positions.
[[nodiscard]] core::Result<std::size_t> count_positions(const ConfigFile& config, const Network* network);

// Returns the limit in sentence_bert_config.json, else in tokenizer_config.json, and at most `positions`. Returns
// kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<std::size_t> read_max_tokens(const FolderContents& contents, std::size_t positions);

// The same for static embeddings, which accept any number of tokens: returns the length to which this tokenizer.json
// cuts a text, at most `most`.
[[nodiscard]] core::Result<std::size_t> read_truncation(const ModelFiles& files, const std::filesystem::path& file,
                                                        std::size_t most);

}  // namespace latebind::embedding
