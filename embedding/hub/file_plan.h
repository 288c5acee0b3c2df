// Which files of a model on the hub are needed: those that ModelFolder reads, and no others.
//
// A pure function except for reading the small files that determine the others; any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/result.h"

namespace latebind::embedding::hub {

// The text of one of the model's files.
using ReadFile = std::function<core::Result<std::string>(const std::string& name)>;

// Names from `files`, the weights last: when those are complete, so is the rest. Reads modules.json, config.json and
// tokenizer_config.json, and of a router its own file. `onnx_file`: the ONNX file that is used instead of the weights;
// empty: these. kNotFound or kUnsupported says what is missing, kInvalidModel what is wrong in which file; `model` is
// for the text.
[[nodiscard]] core::Result<std::vector<std::string>> plan_files(const std::vector<std::string>& files,
                                                                const ReadFile& read, const std::string& model,
                                                                const std::string& onnx_file = {});

}  // namespace latebind::embedding::hub
