// The digest that identifies an embedding model by its content.
#pragma once

#include <filesystem>
#include <string>

#include "core/cache/file_digests.h"
#include "core/result.h"

namespace latebind::app {

// Returns the SHA-256, as 64 hexadecimal digits, over the names and digests of all files that determine a model's
// vectors. For a bundle, uses the digests that it records. `onnx_file` is that of embedding::FolderOptions. `digests`
// caches the digests of large files; if null, every file is read. Returns the errors of embedding::ModelFolder::open().
// Any thread may call it.
[[nodiscard]] core::Result<std::string> model_digest(const std::filesystem::path& place, const std::string& onnx_file,
                                                     core::FileDigests* digests);

}  // namespace latebind::app
