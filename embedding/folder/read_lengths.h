// How many tokens the texts of a model may have.
#pragma once

#include <cstddef>
#include <filesystem>

#include "core/result.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/folder_contents.h"

namespace latebind::embedding {

// The fewest tokens of a text: [CLS] and [SEP].
inline constexpr std::size_t kTokensMin = 2;

// The longest text that the network takes. Where it is not known (null), config.json says how many positions it has.
[[nodiscard]] core::Result<std::size_t> count_positions(const ConfigFile& config, const Network* network);

// What sentence_bert_config.json says, else what tokenizer_config.json does, and at most `positions`. kInvalidModel or
// kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<std::size_t> read_max_tokens(const FolderContents& contents, std::size_t positions);

// The same for static embeddings, which take any number of tokens: the length to which this tokenizer.json cuts a text,
// at most `most`.
[[nodiscard]] core::Result<std::size_t> read_truncation(const ModelFiles& files, const std::filesystem::path& file,
                                                        std::size_t most);

}  // namespace latebind::embedding
