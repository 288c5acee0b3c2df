// What a model's configurations say about prompts and about the lengths of vectors.
//
// Source of the keys: sentence-transformers. Pure functions of what was read; safe for concurrent use.
#pragma once

#include <cstddef>
#include <vector>

#include "core/result.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/modules.h"
#include "embedding/inputs/prompts.h"

namespace latebind::embedding {

// kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<Prompts> read_prompts(const FolderContents& contents, const Modules& modules);

// The lengths for which the model was trained besides the whole vector; empty where no file names any.
[[nodiscard]] std::vector<std::size_t> read_matryoshka(const FolderContents& contents);

}  // namespace latebind::embedding
