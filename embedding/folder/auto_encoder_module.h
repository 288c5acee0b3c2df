// Reads SparseAutoEncoder, the module of sparse encoders that projects a text's vector to many latents and keeps the
// largest ones.
//
// Source: sentence-transformers' SparseAutoEncoder, after Wen et al., "Beyond Matryoshka: Revisiting Sparse Coding for
// Adaptive Representation" (2025). A pure function of the files; any thread may call it.
#pragma once

#include <filesystem>

#include "core/status.h"
#include "embedding/folder/modules.h"

namespace latebind::embedding {

// Reads the module in `folder` and adds it to `modules`. Returns kInvalidModel or kUnsupported, naming the key.
[[nodiscard]] core::Status read_auto_encoder(const ModelFiles& files, const std::filesystem::path& folder,
                                             Modules& modules);

}  // namespace latebind::embedding
