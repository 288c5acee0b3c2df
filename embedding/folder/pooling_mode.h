// The names of pooling modes in configurations of sentence-transformers' Pooling. Pure functions, for any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

// Reads the mode, in its newer or its older form. Returns kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<graph::PoolingMode> read_pooling_mode(const core::Json& config,
                                                                 const std::filesystem::path& file);
// Returns the name of a mode in newer files.
[[nodiscard]] std::string_view name_of_pooling(graph::PoolingMode mode);

}  // namespace latebind::embedding
