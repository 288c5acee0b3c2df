#include "embedding/hub/content_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>
#include <vector>

#include "core/platform/digest.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/hub/name.h"
#include "embedding/hub/settings.h"

namespace latebind::embedding::hub {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

struct CachedSnapshot {
  CacheLayout layout;
  std::string id;
  std::string commit;
};

// The snapshot that is this folder or contains it.
std::optional<CachedSnapshot> snapshot_of(const path& place) {
  std::error_code error;
  // A file may be a link to its content, which is outside of the snapshot.
  const bool is_folder = std::filesystem::is_directory(place, error);
  path folder = std::filesystem::canonical(is_folder ? place : platform::anchored(place).parent_path(), error);
  if (error) return std::nullopt;
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    const path model = folder.parent_path().parent_path();
    if (folder.parent_path().filename() != "snapshots") continue;
    auto id = CacheLayout::id_of(platform::path_to_utf8(model.filename()));
    std::string commit = platform::path_to_utf8(folder.filename());
    if (!id || !is_commit(commit)) return std::nullopt;
    return CachedSnapshot{CacheLayout(model.parent_path(), *id), *id, std::move(commit)};
  }
  return std::nullopt;
}

// The command that repairs the snapshot: "`latebind pull org/name`".
std::string repair_of(const CachedSnapshot& snapshot) {
  const bool is_main = snapshot.layout.read_ref("main") == snapshot.commit;
  std::string command = fmt::format("`latebind pull {}{}`", snapshot.id, is_main ? "" : "@" + snapshot.commit);
  const auto settings = Settings::from_environment();
  std::error_code error;
  if (!settings.ok() || std::filesystem::equivalent(settings->cache_folder, snapshot.layout.cache_folder(), error))
    return command;
  return command + " with HF_HUB_CACHE=" + platform::quoted(snapshot.layout.cache_folder());
}

// Whether a damaged file may be the cause.
bool may_come_of_damage(const Status& status) {
  return status.code() == StatusCode::kInvalidModel || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kIo || status.code() == StatusCode::kNoDevice;
}

}  // namespace

Result<std::optional<std::string>> find_difference(const path& file, const FileInfo& info) {
  using Difference = std::optional<std::string>;
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(file, error);
  if (error) return platform::status_of_errno("read", file, error.default_error_condition().value());
  if (info.size && bytes != *info.size)
    return Difference(fmt::format("it has {} bytes instead of {}", bytes, *info.size));
  if (!is_commit(info.etag)) return Difference();
  LB_ASSIGN_OR_RETURN(const std::string digest, info.etag.size() == 64 ? platform::sha256_hex_of_file(file)
                                                                       : platform::git_blob_name_of_file(file));
  if (digest == info.etag) return Difference();
  return Difference(fmt::format("its digest is {} instead of {}", digest, info.etag));
}

std::optional<FileInfo> local_info(const CacheLayout& layout, const std::optional<FileList>& tree,
                                   const std::string& commit, const std::string& name) {
  if (tree) {
    if (const auto found = tree->infos.find(name); found != tree->infos.end()) return found->second;
  }
  std::error_code error;
  const path content = std::filesystem::read_symlink(layout.file(commit, name), error);
  if (error) return std::nullopt;
  std::string etag = platform::path_to_utf8(content.filename());
  if (!is_commit(etag)) return std::nullopt;
  return FileInfo{.etag = std::move(etag), .size = std::nullopt};
}

Status with_damage(Status status, const path& place) {
  if (!may_come_of_damage(status)) return status;
  const auto snapshot = snapshot_of(place);
  if (!snapshot) return status;
  const auto tree = snapshot->layout.read_tree(snapshot->commit);
  bool all_are_known = true;
  // Small files first.
  std::vector<std::pair<std::uint64_t, std::string>> files;
  for (std::string& name : snapshot->layout.files_of(snapshot->commit)) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(snapshot->layout.file(snapshot->commit, name), error);
    files.emplace_back(error ? 0 : bytes, std::move(name));
  }
  std::ranges::sort(files);
  for (const auto& [bytes, name] : files) {
    const path file = snapshot->layout.file(snapshot->commit, name);
    const auto info = local_info(snapshot->layout, tree, snapshot->commit, name).value_or(FileInfo());
    all_are_known = all_are_known && !info.etag.empty();
    const auto difference = find_difference(file, info);
    if (!difference.ok() || !*difference) continue;
    return status.with_context(fmt::format("{} is damaged in the hub's cache ({}); {} downloads it again",
                                           core::printable(name), **difference, repair_of(*snapshot)));
  }
  if (all_are_known || status.code() != StatusCode::kInvalidModel || status.vendor_code()) return status;
  return Status(status.code(), fmt::format("{}; {} compares the files with the hub's and downloads those that differ",
                                           status.message(), repair_of(*snapshot)))
      .with_details(std::string(status.details()));
}

}  // namespace latebind::embedding::hub
