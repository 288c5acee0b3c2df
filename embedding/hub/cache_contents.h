// Lists the models in the hub's cache, and removes them.
//
// Other tools use the same cache, so only files that no other model uses are removed, and none outside the cache.
// Several links may lead to one content, within a model, across models, and into folders that models share. Stateless
// functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace latebind::embedding::hub {

struct CachedRevision {
  std::string commit{};
  std::vector<std::string> refs{};  // branches and tags that referred to it, sorted
  std::size_t files = 0;
  // Whether it has a configuration with weights in a known format or an ONNX file, and no dangling links.
  bool is_usable = false;
};

struct CachedModel {
  std::string id{};  // "org/name", or "name" for a model without an owner
  std::filesystem::path folder{};
  std::vector<CachedRevision> revisions{};  // by commit
  std::uint64_t bytes = 0;                  // size of its contents, counting each content once
};

// The models in the cache, sorted by name; empty if the folder is missing. Returns kPermissionDenied or kIo on failure.
[[nodiscard]] core::Result<std::vector<CachedModel>> cached_models(const std::filesystem::path& cache_folder);

// Finds a model by its full name, or by its last part if that is unique. Returns kNotFound, naming similar models, or
// kInvalidArgument if several models have that last part.
[[nodiscard]] core::Result<CachedModel> find_cached(const std::vector<CachedModel>& models, const std::string& name);

// What a removal would remove.
struct Removal {
  std::string id{};
  std::optional<std::string> commit{};           // only this revision; std::nullopt: the whole model
  std::vector<std::filesystem::path> files{};    // including links, which are not followed
  std::vector<std::filesystem::path> folders{};  // removed afterwards if they are empty, deepest first
  std::vector<std::filesystem::path> locks{};    // locks of contents that may be loading
  std::uint64_t bytes = 0;
  std::size_t kept = 0;  // contents that other models or revisions use
};
// Plans the removal of `revision`: a branch, a tag or a commit; empty means all. Returns kNotFound if the model has no
// such revision.
[[nodiscard]] core::Result<Removal> plan_removal(const std::filesystem::path& cache_folder, const CachedModel& model,
                                                 const std::string& revision);
// Removes the files. Returns kBusy while the model is being loaded, and kPermissionDenied or kIo for a file that cannot
// be removed; the files before that one are gone.
[[nodiscard]] core::Status remove(const Removal& removal);

}  // namespace latebind::embedding::hub
