// The pooling of a model without a modules.json, as sentence-transformers chooses it.
//
// Pure functions of the files; any thread may call them.
#pragma once

#include <filesystem>
#include <string>

#include "core/graph/operators.h"
#include "core/json/value.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// Returns last-token pooling if the first of "architectures" ends with ForCausalLM and "is_causal" is not false or
// null; otherwise mean pooling. Returns kInvalidModel for another value of "is_causal".
[[nodiscard]] core::Result<graph::PoolingMode> default_pooling(const core::Json& config,
                                                               const std::filesystem::path& config_file);

// Returns one line for people: the assumed pooling, and the files of the folder that have no effect without a
// modules.json.
[[nodiscard]] std::string say_default_pooling(const ModelFiles& files, const core::Json& config,
                                              graph::PoolingMode pooling);

}  // namespace latebind::embedding
