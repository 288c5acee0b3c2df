// Whether the files of the hub's cache are what the hub has: by their sizes, and by digests, which most ETags are. Any
// thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"
#include "embedding/hub/answers.h"
#include "embedding/hub/cache_layout.h"

namespace latebind::embedding::hub {

// What differs from `info`, for a message: "it has 100 bytes instead of 200"; nothing when the file is as `info` says,
// as far as that says anything. Reads the whole file where the ETag is a digest. The errors of reading.
[[nodiscard]] core::Result<std::optional<std::string>> find_difference(const std::filesystem::path& file,
                                                                       const FileInfo& info);

// What the cache itself tells of a file of a snapshot: `tree`, the list that another tool has stored, or the link to
// the file's content, whose name is the ETag. Nothing for a copy, and where the ETag is no digest.
[[nodiscard]] std::optional<FileInfo> local_info(const CacheLayout& layout, const std::optional<FileList>& tree,
                                                 const std::string& commit, const std::string& name);

// The error of opening a model, with the first damaged file of the model if it is one of the hub's cache, and the
// command that mends it. `place`: its folder, or a file in it.
[[nodiscard]] core::Status with_damage(core::Status status, const std::filesystem::path& place);

}  // namespace latebind::embedding::hub
