#include "embedding/hub/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "core/log.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/partial_file.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/hub/cache_layout.h"
#include "embedding/hub/client.h"
#include "embedding/hub/file_plan.h"

namespace latebind::embedding::hub {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

std::uint64_t size_of(const path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

// A file of the snapshot that decides about others: modules.json, config.json.
Result<std::string> read_snapshot_file(const CacheLayout& layout, const std::string& commit, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(layout.file(commit, name)));
  return std::string(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
}

// What the cache has of a commit; an error says what is missing.
Result<Snapshot> cached(const CacheLayout& layout, const ModelName& name, const std::string& commit,
                        const std::string& onnx_file) {
  std::vector<std::string> files = layout.files_of(commit);
  // Another tool may have been interrupted; its list of all files, if present, shows it.
  if (const auto tree = platform::MappedFile::open(layout.tree(commit)); tree.ok()) {
    const auto bytes = tree->bytes();
    if (auto listed = parse_tree({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
      files = *std::move(listed);
  }
  const auto read = [&](const std::string& file) { return read_snapshot_file(layout, commit, file); };
  LB_ASSIGN_OR_RETURN(const auto plan, plan_files(files, read, name.text(), onnx_file));
  Snapshot found{.folder = layout.snapshot(commit), .commit = commit, .from_cache = true};
  for (const std::string& file : plan) {
    if (!layout.has(commit, file)) {
      return Status(StatusCode::kNotFound, fmt::format("{} of '{}' is not in the cache", printable(file), name.text()));
    }
    found.files.push_back({.name = file, .bytes = size_of(layout.file(commit, file)), .loaded = false});
  }
  return found;
}

// ETags that are digests are checked as such: those of large files are SHA-256, those of small ones git's own names.
Status check_content(const platform::PartialFile& partial, const std::string& etag, const std::string& what) {
  if (!is_commit(etag)) return {};
  const auto digest = etag.size() == 64 ? platform::sha256_hex_of_file(partial.file())
                                        : platform::git_blob_name_of_file(partial.file());
  if (!digest.ok()) return digest.status();
  if (*digest == etag) return {};
  return Status(StatusCode::kInvalidModel,
                fmt::format("{} came damaged: its digest is {}, the hub says {}; try again", what, *digest, etag));
}

// Loads the files of one commit. One object a call of snapshot().
class Loader {
 public:
  Loader(Client& client, const CacheLayout& layout, const ModelName& name, const Settings& settings,
         const SnapshotOptions& options, std::string commit)
      : client_(client),
        layout_(layout),
        name_(name),
        settings_(settings),
        options_(options),
        commit_(std::move(commit)) {}

  // All of `files`, the hub's list.
  Result<Snapshot> load(const std::vector<std::string>& files) {
    const auto read = [&](const std::string& file) -> Result<std::string> {
      LB_RETURN_IF_ERROR(ensure(file));
      return read_snapshot_file(layout_, commit_, file);
    };
    LB_ASSIGN_OR_RETURN(const auto plan, plan_files(files, read, name_.text(), options_.onnx_file));
    // All sizes first, so that the whole is known before the first large file comes.
    for (const std::string& file : plan) {
      if (layout_.has(commit_, file)) continue;
      LB_ASSIGN_OR_RETURN(const FileInfo info, info_of(file));
      total_bytes_ += info.size.value_or(0);
    }
    finished_bytes_ = 0;
    Snapshot result{.folder = layout_.snapshot(commit_), .commit = commit_};
    for (const std::string& file : plan) {
      LB_RETURN_IF_ERROR(ensure(file));
      result.files.push_back({.name = file,
                              .bytes = size_of(layout_.file(commit_, file)),
                              .loaded = std::ranges::find(loaded_, file) != loaded_.end()});
    }
    result.loaded_bytes = loaded_bytes_;
    return result;
  }

 private:
  Result<FileInfo> info_of(const std::string& file) {
    const auto known = infos_.find(file);
    if (known != infos_.end()) return known->second;
    LB_ASSIGN_OR_RETURN(FileInfo info, client_.file_info(name_, commit_, file));
    infos_.emplace(file, info);
    return info;
  }

  Status check_cancelled() const {
    if (!options_.cancellation.is_requested()) return {};
    return {StatusCode::kCancelled, fmt::format("loading '{}' was cancelled; what came is kept", name_.text())};
  }

  // Makes sure that the snapshot has the file.
  Status ensure(const std::string& file) {
    if (layout_.has(commit_, file)) return {};
    LB_RETURN_IF_ERROR(check_cancelled());
    LB_ASSIGN_OR_RETURN(const FileInfo info, info_of(file));
    LB_RETURN_IF_ERROR(layout_.make_folders());
    const auto tell = [&] {
      if (options_.note) options_.note(fmt::format("another process is loading {}; waiting for it", printable(file)));
    };
    const auto lock = platform::FileLock::acquire(layout_.lock_file(info.etag), options_.lock_timeout, tell);
    if (!lock.ok()) return lock.status();
    // Of another process, which may be reading it by now.
    if (layout_.has(commit_, file)) return {};
    if (!is_whole(info)) LB_RETURN_IF_ERROR(load_blob(file, info));
    finished_bytes_ += info.size.value_or(0);
    show(0);
    return layout_.put(commit_, file, info.etag, settings_.links);
  }

  // A blob of another size is what a crash of the machine may leave.
  bool is_whole(const FileInfo& info) const {
    std::error_code error;
    const path blob = layout_.blob(info.etag);
    if (!std::filesystem::is_regular_file(blob, error)) return false;
    return !info.size || size_of(blob) == *info.size;
  }

  Status load_blob(const std::string& file, const FileInfo& info) {
    const std::string what = fmt::format("{} of '{}'", printable(file), name_.text());
    LB_ASSIGN_OR_RETURN(auto partial, platform::PartialFile::open(layout_.partial(info.etag)));
    for (;;) {
      const std::uint64_t before = partial.size();
      if (before > 0) core::log(core::LogLevel::kInfo, fmt::format("{} goes on after {} bytes", what, before));
      std::uint64_t last = before;
      Status status = client_.load(name_, commit_, file, info, partial, [&](std::uint64_t now) {
        loaded_bytes_ += now > last ? now - last : now;
        last = now;
        show(now);
        return check_cancelled();
      });
      if (!status.ok()) {
        if (status.code() != StatusCode::kDiskFull && status.code() != StatusCode::kIo) return status;
        return Status(status.code(), fmt::format("{}; the {} bytes that are there are kept for the next attempt",
                                                 status.message(), partial.size()));
      }
      Status content = check_content(partial, info.etag, what);
      if (content.ok()) break;
      LB_RETURN_IF_ERROR(partial.clear());
      // What was there before may have been another's mistake; what came in one piece is the hub's.
      if (before == 0) return content;
    }
    loaded_.push_back(file);
    return partial.finish(layout_.blob(info.etag));
  }

  void show(std::uint64_t of_this_file) const {
    if (options_.on_progress && total_bytes_ > 0) options_.on_progress(finished_bytes_ + of_this_file, total_bytes_);
  }

  Client& client_;
  const CacheLayout& layout_;
  const ModelName& name_;
  const Settings& settings_;
  const SnapshotOptions& options_;
  const std::string commit_;
  std::map<std::string, FileInfo> infos_;
  std::vector<std::string> loaded_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t finished_bytes_ = 0;
  std::uint64_t loaded_bytes_ = 0;
};

Status offline_error(const Settings& settings, const ModelName& name, const Status& why) {
  return Status(
      StatusCode::kNotFound,
      fmt::format("HF_HUB_OFFLINE is set, and '{}' is not complete in the cache {} ({}); unset it, or load the "
                  "model where there is a network: latebind pull {}",
                  name.text(), platform::quoted(settings.cache_folder), why.message(), name.text()));
}

}  // namespace

Result<Snapshot> snapshot(const ModelName& name, const Settings& settings, const SnapshotOptions& options) {
  const CacheLayout layout(settings.cache_folder, name.id);
  const auto known =
      is_commit(name.revision) ? std::optional<std::string>(name.revision) : layout.read_ref(name.revision);
  Result<Snapshot> present = known ? cached(layout, name, *known, options.onnx_file)
                                   : Status(StatusCode::kNotFound, "this revision was never loaded");
  if (settings.offline) return present.ok() ? present : offline_error(settings, name, present.status());
  // A commit never changes.
  if (present.ok() && is_commit(name.revision)) return present;

  // The cache is used where the hub cannot be reached.
  const auto stand_in = [&](const Status& why) {
    if (options.note) {
      options.note(
          fmt::format("{}; taking '{}' as it is in the cache, commit {}", why.message(), name.text(), present->commit));
    }
    return present;
  };
  auto client = Client::make(settings, options.note);
  if (!client.ok()) return present.ok() ? stand_in(client.status()) : client.status();
  client->set_cancellation(options.cancellation);
  if (present.ok()) client->set_attempts_max(1);
  const auto info = client->model_info(name);
  if (options.cancellation.is_requested()) return Status(StatusCode::kCancelled, "loading was cancelled");
  if (!info.ok()) return present.ok() && client->unreachable() ? stand_in(info.status()) : info.status();
  if (present.ok() && present->commit == info->commit) {
    present->from_cache = false;
    return present;
  }

  client->set_attempts_max(5);
  Loader loader(*client, layout, name, settings, options, info->commit);
  LB_ASSIGN_OR_RETURN(Snapshot loaded, loader.load(info->files));
  // Last, so that a revision never stands for what is not complete.
  LB_RETURN_IF_ERROR(layout.write_ref(name.revision, info->commit));
  return loaded;
}

}  // namespace latebind::embedding::hub
