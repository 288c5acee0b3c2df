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

// Returns one line for people: the assumed pooling, and what has no effect without a modules.json: files of the folder,
// and the tokenizer's chat template, in which the reference then puts texts.
[[nodiscard]] std::string say_default_pooling(const ModelFiles& files, const core::Json& config,
                                              graph::PoolingMode pooling, bool has_chat_template);

}  // namespace latebind::embedding
