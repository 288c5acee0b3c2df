// Reads prompts and the dimensions of shorter vectors from a model's configurations.
//
// Source of the keys: sentence-transformers. Pure functions of the parsed files; safe for concurrent use.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/modules.h"
#include "embedding/inputs/prompts.h"

namespace latebind::embedding {

// Reads the prompts. Returns kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<Prompts> read_prompts(const FolderContents& contents, const Modules& modules);

// Returns the dimensions for which the model was trained besides the whole vector; empty if no file names any.
[[nodiscard]] std::vector<std::size_t> read_matryoshka(const FolderContents& contents);

// Returns how many leading numbers of each vector the model keeps ("truncate_dim"); 0: all. Returns kInvalidModel,
// naming the file and the key.
[[nodiscard]] core::Result<std::size_t> read_kept_dimensions(const FolderContents& contents);

}  // namespace latebind::embedding
