// Which ONNX file of a model's folder is used, where one is asked for by its name ("onnx/model_quantized.onnx").
//
// Pure functions but for looking at the folder; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// Whether a path from outside, "a/b", stays in the folder that it is meant for.
[[nodiscard]] bool stays_inside(const std::string& relative);

// "ORG/NAME has the ONNX files a, b": for messages. `names` may be in any order, and of any files.
[[nodiscard]] std::string say_onnx_files(std::string_view model, std::vector<std::string> names);

// The file of this name, relative to the model's folder. kInvalidArgument for a bundle and a path that leads out,
// kNotFound, kInvalidModel for what is no ONNX file; each says which ones there are.
[[nodiscard]] core::Result<std::filesystem::path> find_onnx_file(const ModelFiles& files, const std::string& relative);

// Those of a folder, for messages: at most some thousand files are looked at, in folders at most two levels down.
[[nodiscard]] std::vector<std::string> list_onnx_files(const ModelFiles& files);

}  // namespace latebind::embedding
