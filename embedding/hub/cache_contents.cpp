#include "embedding/hub/cache_contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/platform/files/file_lock.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/ascii.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/hub/cache_layout.h"
#include "embedding/hub/name.h"

namespace latebind::embedding::hub {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr std::size_t kEntriesMax = 1'000'000;
constexpr std::size_t kDepthMax = 32;
constexpr int kLinksMax = 8;

Status error_of(std::string_view action, const path& place, const std::error_code& error) {
  return platform::status_of_errno(action, place, error.default_error_condition().value());
}

// The contents of a folder, which may be missing. Links are not followed.
struct Contents {
  std::vector<path> files;    // files and links
  std::vector<path> folders;  // the folder itself first; each folder precedes its contents
};
Status add_contents(const path& folder, Contents& contents, std::size_t depth = 0) {
  std::error_code error;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(folder, error))) return {};
  contents.folders.push_back(folder);
  if (depth > kDepthMax || contents.files.size() > kEntriesMax) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} has more files than a model has", platform::quoted(folder)));
  }
  std::vector<path> entries;
  platform::for_each_entry(folder, error, [&](const path& entry) {
    entries.push_back(entry);
    return entries.size() <= kEntriesMax;
  });
  if (error) return error_of("read", folder, error);
  std::ranges::sort(entries);
  for (const path& entry : entries) {
    if (std::filesystem::is_directory(std::filesystem::symlink_status(entry, error))) {
      LB_RETURN_IF_ERROR(add_contents(entry, contents, depth + 1));
    } else {
      contents.files.push_back(entry);
    }
  }
  return {};
}

// The places to which a link leads, one link after the other. The last place need not exist.
std::vector<path> steps_of(const path& link) {
  std::vector<path> steps;
  path place = link;
  for (int i = 0; i < kLinksMax; ++i) {
    std::error_code error;
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(place, error))) break;
    const path target = std::filesystem::read_symlink(place, error);
    if (error) break;
    place = std::filesystem::weakly_canonical(place.parent_path(), error) / target;
    // The folders on the path are resolved; the last part may be another link.
    place = std::filesystem::weakly_canonical(place.parent_path(), error) / place.filename();
    steps.push_back(place);
  }
  return steps;
}

// Each folder of a repository in the cache, including repositories that are not models.
Result<std::vector<path>> repositories(const path& cache) {
  std::vector<path> folders;
  std::error_code error;
  if (!std::filesystem::exists(cache, error)) return folders;
  platform::for_each_entry(cache, error, [&](const path& entry) {
    std::error_code unreadable;
    const bool is_repository = platform::path_to_utf8(entry.filename()).find("--") != std::string::npos;
    if (is_repository && std::filesystem::is_directory(std::filesystem::symlink_status(entry, unreadable)))
      folders.push_back(entry);
    return folders.size() <= kEntriesMax;
  });
  if (error) return error_of("read", cache, error);
  std::ranges::sort(folders);
  return folders;
}

bool ends_with_weights(const std::string& name) {
  const bool is_torch = name.starts_with("pytorch_model") && name.ends_with(".bin");
  return is_torch || name.ends_with(".safetensors") || name.ends_with(".onnx");
}

Result<CachedRevision> read_revision(const path& folder) {
  CachedRevision revision{.commit = platform::path_to_utf8(folder.filename())};
  Contents contents;
  LB_RETURN_IF_ERROR(add_contents(folder, contents));
  revision.files = contents.files.size();
  bool has_config = false;
  bool has_weights = false;
  bool has_gguf = false;  // which needs no other file
  bool is_whole = true;
  for (const path& file : contents.files) {
    std::error_code error;
    is_whole = is_whole && std::filesystem::is_regular_file(file, error);
    const std::string name = platform::path_to_utf8(file.filename());
    has_config = has_config || name == "config.json";
    has_weights = has_weights || ends_with_weights(name);
    has_gguf = has_gguf || core::ends_with_in_any_case(name, ".gguf");
  }
  revision.is_usable = is_whole && ((has_config && has_weights) || has_gguf);
  return revision;
}

// The size of the contents of these files and links, counting each content once.
std::uint64_t bytes_of(const std::vector<path>& files) {
  std::set<path> counted;
  std::uint64_t bytes = 0;
  for (const path& file : files) {
    std::error_code error;
    const path content = std::filesystem::canonical(file, error);
    if (error || !counted.insert(content).second) continue;
    const auto size = std::filesystem::file_size(content, error);
    if (!error) bytes += size;
  }
  return bytes;
}

Result<CachedModel> read_model(const path& folder, std::string id) {
  CachedModel model{.id = std::move(id), .folder = folder};
  Contents contents;
  LB_RETURN_IF_ERROR(add_contents(folder, contents));
  std::vector<path> contained;
  std::ranges::copy_if(contents.files, std::back_inserter(contained), [&](const path& file) {
    return platform::is_within(file, folder / "blobs") || platform::is_within(file, folder / "snapshots");
  });
  model.bytes = bytes_of(contained);
  std::vector<std::pair<std::string, std::string>> refs;  // commit and name
  for (const path& file : contents.files) {
    const path relative = file.lexically_relative(folder / "refs");
    const std::string name = platform::path_to_utf8(relative.generic_string());
    if (name.empty() || name.starts_with("..")) continue;
    const auto commit = CacheLayout(folder.parent_path(), model.id).read_ref(name);
    if (commit) refs.emplace_back(*commit, name);
  }
  std::ranges::sort(refs);
  for (const path& below : contents.folders) {
    if (below.parent_path() != folder / "snapshots") continue;
    LB_ASSIGN_OR_RETURN(auto revision, read_revision(below));
    for (const auto& [commit, name] : refs) {
      if (commit == revision.commit) revision.refs.push_back(name);
    }
    model.revisions.push_back(std::move(revision));
  }
  return model;
}

std::string last_part(const std::string& id) {
  return id.substr(id.find('/') + 1);
}

Result<std::string> commit_of(const CachedModel& model, const std::string& revision) {
  std::vector<std::string_view> known;
  for (const CachedRevision& one : model.revisions) {
    if (one.commit == revision || std::ranges::count(one.refs, revision) > 0) return one.commit;
    known.emplace_back(one.commit);
    known.insert(known.end(), one.refs.begin(), one.refs.end());
  }
  return Status(StatusCode::kNotFound,
                fmt::format("the cache has no revision {} of {}{}", core::quoted(revision), model.id,
                            known.empty() ? "" : core::supported_instead(revision, known)));
}

}  // namespace

Result<std::vector<CachedModel>> cached_models(const path& cache_folder) {
  LB_ASSIGN_OR_RETURN(const auto folders, repositories(cache_folder));
  std::vector<CachedModel> models;
  for (const path& folder : folders) {
    auto id = CacheLayout::id_of(platform::path_to_utf8(folder.filename()));
    if (!id) continue;
    LB_ASSIGN_OR_RETURN(auto model, read_model(folder, *std::move(id)));
    models.push_back(std::move(model));
  }
  std::ranges::sort(models, {}, &CachedModel::id);
  return models;
}

Result<CachedModel> find_cached(const std::vector<CachedModel>& models, const std::string& name) {
  std::vector<const CachedModel*> found;
  std::vector<std::string_view> known;
  for (const CachedModel& model : models) {
    if (model.id == name) return model;
    if (last_part(model.id) == name) found.push_back(&model);
    known.emplace_back(model.id);
  }
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} may be {} or {}: give the whole name",
                                                            core::quoted(name), found[0]->id, found[1]->id));
  }
  const std::string listed = known.empty() ? "it is empty" : fmt::format("it has {}", fmt::join(known, ", "));
  const std::string_view nearest = core::nearest_word(name, known);
  return Status(StatusCode::kNotFound,
                fmt::format("the cache has no model {}{}; {}", core::quoted(name),
                            nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest), listed));
}

Result<Removal> plan_removal(const path& cache_folder, const CachedModel& model, const std::string& revision) {
  Removal removal{.id = model.id};
  std::error_code error;
  const path cache = std::filesystem::canonical(cache_folder, error);
  if (error) return error_of("open", cache_folder, error);
  const path own = cache / model.folder.filename();
  if (!revision.empty()) {
    LB_ASSIGN_OR_RETURN(auto commit, commit_of(model, revision));
    // Without its only revision, nothing of the model would be left.
    if (model.revisions.size() > 1) removal.commit = std::move(commit);
  }

  // The files that are removed in any case, and those that stay, whose links keep their contents.
  Contents going;
  LB_RETURN_IF_ERROR(add_contents(removal.commit ? own / "snapshots" / *removal.commit : own, going));
  const std::set<path> gone(going.files.begin(), going.files.end());
  std::set<path> used;
  LB_ASSIGN_OR_RETURN(const auto others, repositories(cache));
  for (const path& repository : others) {
    Contents contents;
    LB_RETURN_IF_ERROR(add_contents(repository, contents));
    for (const path& file : contents.files) {
      if (gone.contains(file)) continue;
      for (path& step : steps_of(file))
        used.insert(std::move(step));
    }
  }

  std::set<path> files;
  std::set<path> kept;
  const auto take = [&](const path& file) {
    if (used.contains(file)) {
      kept.insert(file);
    } else {
      files.insert(file);
    }
  };
  for (const path& file : going.files) {
    take(file);
    // Contents of the model are removed wherever they are in the cache; files outside belong to others.
    for (const path& step : steps_of(file)) {
      if (platform::is_within(step, cache) && std::filesystem::exists(std::filesystem::symlink_status(step, error)) &&
          !std::filesystem::is_directory(step, error)) {
        take(step);
      }
    }
  }
  if (removal.commit) {
    for (const CachedRevision& one : model.revisions) {
      if (one.commit != *removal.commit) continue;
      for (const std::string& ref : one.refs)
        files.insert(own / "refs" / platform::path_from_utf8(ref));
    }
    const path tree = own / "trees" / (*removal.commit + ".json");
    if (std::filesystem::is_regular_file(tree, error)) files.insert(tree);
  } else {
    Contents locks;
    LB_RETURN_IF_ERROR(add_contents(cache / ".locks" / own.filename(), locks));
    removal.locks = locks.files;
    going.folders.insert(going.folders.end(), locks.folders.begin(), locks.folders.end());
  }
  removal.kept = kept.size();
  for (const path& file : files) {
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error))) continue;
    const auto size = std::filesystem::file_size(file, error);
    if (!error) removal.bytes += size;
  }
  removal.files.assign(files.begin(), files.end());
  // Links are removed before the contents they lead to, so that an interruption leaves contents without a name rather
  // than dangling links.
  std::ranges::stable_partition(removal.files, [](const path& file) {
    std::error_code unreadable;
    return std::filesystem::is_symlink(std::filesystem::symlink_status(file, unreadable));
  });
  removal.folders.assign(going.folders.rbegin(), going.folders.rend());
  return removal;
}

Status remove(const Removal& removal) {
  std::vector<std::pair<platform::FileLock, path>> locks;
  for (const path& file : removal.locks) {
    auto lock = platform::FileLock::acquire(file, std::chrono::milliseconds(0));
    if (!lock.ok()) {
      if (lock.status().code() != StatusCode::kBusy) return lock.status();
      return Status(StatusCode::kBusy,
                    fmt::format("{} is being loaded by another process: try again when it is done", removal.id));
    }
    locks.emplace_back(*std::move(lock), file);
  }
  for (const path& file : removal.files) {
    std::error_code error;
    std::filesystem::remove(file, error);
    if (error) return error_of("remove", file, error);
  }
  for (auto& [lock, file] : locks)
    lock.remove(file);
  // Folders that are not empty stay.
  for (const path& folder : removal.folders) {
    std::error_code ignored;
    std::filesystem::remove(folder, ignored);
  }
  return {};
}

}  // namespace latebind::embedding::hub
