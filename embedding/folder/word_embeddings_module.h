// Reads WordEmbeddings, the module that is a table with a vector for each word, such as GloVe's. It replaces
// Transformer, and Pooling follows.
//
// Source: sentence-transformers' WordEmbeddings. A pure function of the files; any thread may call it.
#pragma once

#include <filesystem>

#include "core/status.h"
#include "embedding/folder/modules.h"

namespace latebind::embedding {

// Reads the module in `folder` and sets its members of `modules`. Returns kNotFound, kInvalidModel or kUnsupported,
// naming the key.
[[nodiscard]] core::Status read_word_embeddings(const ModelFiles& files, const std::filesystem::path& folder,
                                                Modules& modules);

// Completes the pooling after this module, which cannot leave out prompts. Returns kUnsupported for another pooling
// than the mean: it alone is defined for a text without known words.
[[nodiscard]] core::Status take_word_pooling(Modules& modules);

// Returns kUnsupported if a module after the pooling turns the zero vector of a text without known words into another
// one. Returns ok for other models.
[[nodiscard]] core::Status check_after_words(const ModelFiles& files, const Modules& modules);

}  // namespace latebind::embedding
