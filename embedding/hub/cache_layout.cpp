#include "embedding/hub/cache_layout.h"

#include <fmt/format.h>

#include <string_view>
#include <system_error>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/platform/os_error.h"
#include "embedding/hub/name.h"

namespace latebind::embedding::hub {
namespace {

using core::Status;
using core::StatusCode;
using platform::path_from_utf8;
using std::filesystem::path;

constexpr std::string_view kModels = "models--";
constexpr std::size_t kRefMax = 200;
constexpr std::size_t kSnapshotFilesMax = 10'000;

// The folder of a model: "models--org--name".
std::string folder_name(const std::string& id) {
  std::string name = std::string(kModels) + id;
  const auto slash = name.find('/');
  if (slash != std::string::npos) name.replace(slash, 1, "--");
  return name;
}

Status make_folder(const path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  const Status status = platform::status_of_errno("make the folder", folder, error.default_error_condition().value());
  return Status(status.code(),
                fmt::format("{}; set HF_HUB_CACHE to another folder for the hub's models", status.message()));
}

}  // namespace

CacheLayout::CacheLayout(path cache_folder, const std::string& id)
    : cache_folder_(std::move(cache_folder)),
      model_folder_(cache_folder_ / folder_name(id)),
      locks_folder_(cache_folder_ / ".locks" / folder_name(id)) {}

std::optional<std::string> CacheLayout::id_of(std::string folder_name) {
  if (!folder_name.starts_with(kModels) || folder_name.size() == kModels.size()) return std::nullopt;
  folder_name.erase(0, kModels.size());
  if (const auto dashes = folder_name.find("--"); dashes != std::string::npos) folder_name.replace(dashes, 2, "/");
  return folder_name;
}

path CacheLayout::blob(const std::string& etag) const {
  return model_folder_ / "blobs" / etag;
}

path CacheLayout::partial(const std::string& etag) const {
  return model_folder_ / "blobs" / (etag + ".incomplete");
}

path CacheLayout::lock_file(const std::string& etag) const {
  return locks_folder_ / (etag + ".lock");
}

path CacheLayout::snapshot(const std::string& commit) const {
  return model_folder_ / "snapshots" / commit;
}

path CacheLayout::file(const std::string& commit, const std::string& name) const {
  return snapshot(commit) / path_from_utf8(name);
}

path CacheLayout::tree(const std::string& commit) const {
  return model_folder_ / "trees" / (commit + ".json");
}

std::optional<std::string> CacheLayout::read_ref(const std::string& revision) const {
  const auto mapped = platform::MappedFile::open(model_folder_ / "refs" / path_from_utf8(revision));
  if (!mapped.ok() || mapped->bytes().size() > kRefMax) return std::nullopt;
  std::string commit(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
  while (commit.ends_with('\n') || commit.ends_with('\r'))
    commit.pop_back();
  if (!is_commit(commit)) return std::nullopt;
  return commit;
}

Status CacheLayout::write_ref(const std::string& revision, const std::string& commit) const {
  // A correct reference is not written again, since the cache may be read-only.
  if (revision == commit || read_ref(revision) == commit) return {};
  const path file = model_folder_ / "refs" / path_from_utf8(revision);
  LB_RETURN_IF_ERROR(make_folder(file.parent_path()));
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(commit));
  return output.commit();
}

bool CacheLayout::has(const std::string& commit, const std::string& name) const {
  std::error_code error;
  return std::filesystem::is_regular_file(file(commit, name), error);
}

std::optional<FileList> CacheLayout::read_tree(const std::string& commit) const {
  const auto mapped = platform::MappedFile::open(tree(commit));
  if (!mapped.ok()) return std::nullopt;
  return parse_tree({reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size()});
}

std::vector<std::string> CacheLayout::files_of(const std::string& commit) const {
  std::vector<std::string> files;
  const path folder = snapshot(commit);
  std::error_code error;
  auto entries = std::filesystem::recursive_directory_iterator(folder, error);
  for (; !error && entries != std::filesystem::recursive_directory_iterator() && files.size() < kSnapshotFilesMax;
       entries.increment(error)) {
    std::error_code unreadable;
    if (!entries->is_regular_file(unreadable)) continue;
    std::string name = platform::path_to_utf8(entries->path().lexically_relative(folder).generic_string());
    if (is_file_name(name)) files.push_back(std::move(name));
  }
  return files;
}

Status CacheLayout::make_folders() const {
  LB_RETURN_IF_ERROR(make_folder(model_folder_ / "blobs"));
  return make_folder(locks_folder_);
}

Status CacheLayout::put(const std::string& commit, const std::string& name, const std::string& etag, bool links) const {
  const path place = file(commit, name);
  LB_RETURN_IF_ERROR(make_folder(place.parent_path()));
  std::error_code error;
  // A dangling link, or a file with other content.
  std::filesystem::remove(place, error);
  if (links) {
    const path target = blob(etag).lexically_relative(place.parent_path());
    std::filesystem::create_symlink(target, place, error);
    if (!error || (error == std::errc::file_exists && has(commit, name))) return {};
  }
  // Complete or not at all, like everything in the cache.
  const auto mapped = platform::MappedFile::open(blob(etag));
  if (!mapped.ok()) return mapped.status();
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(place));
  LB_RETURN_IF_ERROR(output.write(mapped->bytes()));
  return output.commit();
}

}  // namespace latebind::embedding::hub
