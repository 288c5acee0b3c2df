// Which models the hub's cache has, and removing them.
//
// The cache belongs to other tools as well: only what one model alone uses is removed, and nothing outside the cache.
// Several links may lead to one content, within a model, across models, and into folders that models share. Stateless;
// any thread.
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
  std::vector<std::string> refs{};  // branches and tags that stood for it, sorted
  std::size_t files = 0;
  // There is a configuration with weights that are read or an ONNX file, and no link leads nowhere.
  bool is_usable = false;
};

struct CachedModel {
  std::string id{};  // "org/name", or "name" of what has no owner
  std::filesystem::path folder{};
  std::vector<CachedRevision> revisions{};  // by commit
  std::uint64_t bytes = 0;                  // of all contents that its links and files are, each once
};

// Sorted by name; without a folder there are none. kPermissionDenied, kIo.
[[nodiscard]] core::Result<std::vector<CachedModel>> cached_models(const std::filesystem::path& cache_folder);

// The one that a name means: the whole one, or its last part where one model alone has it. kNotFound, naming what
// is near; kInvalidArgument where several have that part.
[[nodiscard]] core::Result<CachedModel> find_cached(const std::vector<CachedModel>& models, const std::string& name);

// What removing would remove.
struct Removal {
  std::string id{};
  std::optional<std::string> commit{};           // only this one, of several
  std::vector<std::filesystem::path> files{};    // links among them, which are not followed
  std::vector<std::filesystem::path> folders{};  // afterwards, where they are empty; the deepest first
  std::vector<std::filesystem::path> locks{};    // of what may be loading
  std::uint64_t bytes = 0;
  std::size_t kept = 0;  // contents that other models or revisions use
};
// `revision`: a branch, a tag or a commit; empty: all of them. kNotFound when the model has no such revision.
[[nodiscard]] core::Result<Removal> plan_removal(const std::filesystem::path& cache_folder, const CachedModel& model,
                                                 const std::string& revision);
// kBusy while the model is being loaded, kPermissionDenied or kIo for what cannot be removed; what was before it is
// gone.
[[nodiscard]] core::Status remove(const Removal& removal);

}  // namespace latebind::embedding::hub
