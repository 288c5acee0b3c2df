// Finds the ONNX file of a model's folder that is requested by its name ("onnx/model_quantized.onnx").
//
// The functions read only the folder; any thread may call them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/folder/model_files.h"

namespace latebind::embedding {

// Returns whether an untrusted path, "a/b", stays inside its folder.
[[nodiscard]] bool stays_inside(const std::string& relative);

// Returns "ORG/NAME has the ONNX files a, b", for messages. `names` may be in any order, and may contain other files.
[[nodiscard]] std::string say_onnx_files(std::string_view model, std::vector<std::string> names);

// Returns the file of this name, relative to the model's folder. Returns kInvalidArgument for a bundle and for a path
// that leads outside, kNotFound if it does not exist, and kInvalidModel if it is not an ONNX file. The errors list the
// available files.
[[nodiscard]] core::Result<std::filesystem::path> find_onnx_file(const ModelFiles& files, const std::string& relative);

// Returns the ONNX files of a folder, for messages. Looks at no more than some thousand files, in folders at most two
// levels down.
[[nodiscard]] std::vector<std::string> list_onnx_files(const ModelFiles& files);

}  // namespace latebind::embedding
