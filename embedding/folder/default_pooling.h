// What the vector of a text is where no modules.json says it, as sentence-transformers decides it then.
//
// Pure functions of the files, for any thread.
#pragma once

#include <filesystem>
#include <string>

#include "core/graph/operators.h"
#include "core/json.h"
#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// The last token's vector where the first of "architectures" ends with ForCausalLM and "is_causal" is not false or
// null, else the mean. kInvalidModel for another value of "is_causal".
[[nodiscard]] core::Result<graph::PoolingMode> default_pooling(const nlohmann::json& config,
                                                               const std::filesystem::path& config_file);

// One line for people: what is assumed, and which files of the folder have no effect without a modules.json.
[[nodiscard]] std::string say_default_pooling(const ModelFiles& files, const nlohmann::json& config,
                                              graph::PoolingMode pooling);

}  // namespace latebind::embedding
