// What identifies an embedding model by its content.
#pragma once

#include <filesystem>
#include <string>

#include "core/file_digests.h"
#include "core/result.h"

namespace latebind::app {

// SHA-256, 64 hexadecimal digits, of the names and contents of all files that a model's vectors come from: of a bundle
// of what it records of them. `onnx_file`: of embedding::FolderOptions. `digests` remembers those of large files; null:
// they are read. The errors of embedding::ModelFolder::open(). Any thread.
[[nodiscard]] core::Result<std::string> model_digest(const std::filesystem::path& place, const std::string& onnx_file,
                                                     core::FileDigests* digests);

}  // namespace latebind::app
