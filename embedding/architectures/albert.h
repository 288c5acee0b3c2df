// ALBERT: BERT with narrower embeddings and few layers, each of which is applied many times.
//
// Source: Lan et al., "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations" (2019), with the
// tensor names of transformers' AlbertModel. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <memory>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/architectures/architecture.h"

namespace latebind::embedding {

// See Architecture::read.
[[nodiscard]] core::Result<std::shared_ptr<const Network>> read_albert(const core::Json& config,
                                                                       const std::filesystem::path& file);

}  // namespace latebind::embedding
