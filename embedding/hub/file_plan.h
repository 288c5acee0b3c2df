// Decides which files of a model on the hub are needed: those that ModelFolder reads.
//
// Apart from reading the small files that determine the others, it is a pure function; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace latebind::embedding::hub {

// Returns the text of one of the model's files.
using ReadFile = std::function<core::Result<std::string>(const std::string& name)>;

// Selects names from `files`. The weights are last, so that all files are present once they are. Reads modules.json,
// config.json, tokenizer_config.json and a router's own file. `onnx_file` is the ONNX file that replaces the weights,
// or empty. Returns kNotFound or kUnsupported, saying what is missing, or kInvalidModel, saying what is wrong in which
// file; `model` is its name for messages.
[[nodiscard]] core::Result<std::vector<std::string>> plan_files(const std::vector<std::string>& files,
                                                                const ReadFile& read, const std::string& model,
                                                                const std::string& onnx_file = {});

}  // namespace latebind::embedding::hub
