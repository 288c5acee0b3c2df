// Compares files of the hub's cache with the hub's information: by size, and by digest, which most ETags are. Any
// thread.
// thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"
#include "embedding/hub/answers.h"
#include "embedding/hub/cache_layout.h"

namespace latebind::embedding::hub {

// The difference between a file and `info`, for a message: "it has 100 bytes instead of 200"; std::nullopt if no
// difference is found. Reads the whole file if the ETag is a digest. Returns errors of reading.
[[nodiscard]] core::Result<std::optional<std::string>> find_difference(const std::filesystem::path& file,
                                                                       const FileInfo& info);

// The information that the cache has about a file of a snapshot: from `tree`, the list that another tool has stored, or
// from the link to the file's content, whose name is the ETag. std::nullopt for a copy, and if the ETag is not a
// digest.
[[nodiscard]] std::optional<FileInfo> local_info(const CacheLayout& layout, const std::optional<FileList>& tree,
                                                 const std::string& commit, const std::string& name);

// Adds to the error of opening a model the model's first damaged file, if the model is in the hub's cache, and the
// command that repairs it. `place` is the model's folder, or a file in it.
[[nodiscard]] core::Status with_damage(core::Status status, const std::filesystem::path& place);

}  // namespace latebind::embedding::hub
