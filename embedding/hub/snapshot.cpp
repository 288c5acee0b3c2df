#include "embedding/hub/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/log.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/partial_file.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "embedding/hub/cache_layout.h"
#include "embedding/hub/client.h"
#include "embedding/hub/content_check.h"
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

// Reads a file of the snapshot that determines other files: modules.json, config.json.
Result<std::string> read_snapshot_file(const CacheLayout& layout, const std::string& commit, const std::string& name) {
  LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(layout.file(commit, name)));
  return std::string(reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size());
}

// The snapshot that the cache has of a commit; an error says what is missing.
Result<Snapshot> cached(const CacheLayout& layout, const ModelName& name, const std::string& commit,
                        const std::string& onnx_file) {
  // Another tool may have been interrupted; its list of all files, if present, shows that.
  const auto tree = layout.read_tree(commit);
  const std::vector<std::string> files = tree ? tree->files : layout.files_of(commit);
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

// Compares a complete snapshot with the information in the cache.
struct LocalComparison {
  Status damage{};        // ok: no damage found
  bool is_whole = false;  // the cache has information about every file
};
LocalComparison compare_locally(const CacheLayout& layout, const Snapshot& snapshot) {
  LocalComparison comparison{.damage = {}, .is_whole = true};
  const auto tree = layout.read_tree(snapshot.commit);
  for (const SnapshotFile& file : snapshot.files) {
    const auto info = local_info(layout, tree, snapshot.commit, file.name);
    comparison.is_whole = comparison.is_whole && info;
    if (!info) continue;
    const auto difference = find_difference(layout.file(snapshot.commit, file.name), *info);
    if (!difference.ok()) return {difference.status(), false};
    if (*difference) {
      return {Status(StatusCode::kInvalidModel,
                     fmt::format("{} is damaged in the cache: {}", printable(file.name), **difference)),
              false};
    }
  }
  return comparison;
}

Status check_loaded(const platform::PartialFile& partial, const FileInfo& info, const std::string& what) {
  LB_ASSIGN_OR_RETURN(const auto difference, find_difference(partial.file(), info));
  if (!difference) return {};
  return Status(StatusCode::kInvalidModel, fmt::format("{} arrived damaged: {}; try again", what, *difference));
}

// Loads the files of one commit, for one call of snapshot().
class Loader {
 public:
  Loader(Client& client, const CacheLayout& layout, const ModelName& name, const Settings& settings,
         const SnapshotOptions& options, CachedContent content, ModelInfo model)
      : client_(client),
        layout_(layout),
        name_(name),
        settings_(settings),
        options_(options),
        content_(content),
        model_(std::move(model)),
        commit_(model_.commit),
        tree_(layout.read_tree(commit_)) {}

  // Loads all needed files of the hub's list.
  Result<Snapshot> load() {
    const auto read = [&](const std::string& file) -> Result<std::string> {
      LB_RETURN_IF_ERROR(ensure(file));
      return read_snapshot_file(layout_, commit_, file);
    };
    LB_ASSIGN_OR_RETURN(const auto plan, plan_files(model_.files, read, name_.text(), options_.onnx_file));
    // All sizes first, so that the total is known before the first large file.
    for (const std::string& file : plan) {
      LB_ASSIGN_OR_RETURN(const bool is_there, has(file));
      if (is_there) continue;
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
    return {StatusCode::kCancelled,
            fmt::format("downloading '{}' was cancelled; what has arrived is kept", name_.text())};
  }

  // Whether the snapshot has the file as requested.
  Result<bool> has(const std::string& file) {
    if (!layout_.has(commit_, file)) return false;
    if (content_ == CachedContent::kTrusted || present_.contains(file)) return true;
    if (content_ == CachedContent::kReplaced) return false;
    const auto known = model_.infos.find(file);
    auto info =
        known != model_.infos.end() ? known->second : local_info(layout_, tree_, commit_, file).value_or(FileInfo());
    if (info.etag.empty()) {
      LB_ASSIGN_OR_RETURN(info, info_of(file));
    }
    LB_ASSIGN_OR_RETURN(const auto difference, find_difference(layout_.file(commit_, file), info));
    if (!difference) present_.insert(file);
    if (difference && options_.note && damaged_.insert(file).second) {
      options_.note(fmt::format("{} of '{}' is damaged in the cache ({}); downloading it again", printable(file),
                                name_.text(), *difference));
    }
    return !difference;
  }

  // Ensures that the snapshot has the file.
  Status ensure(const std::string& file) {
    LB_ASSIGN_OR_RETURN(bool is_there, has(file));
    if (is_there) return {};
    LB_RETURN_IF_ERROR(check_cancelled());
    LB_ASSIGN_OR_RETURN(const FileInfo info, info_of(file));
    LB_RETURN_IF_ERROR(layout_.make_folders());
    const auto tell = [&] {
      if (options_.note)
        options_.note(fmt::format("another process is downloading {}; waiting for it", printable(file)));
    };
    const auto lock = platform::FileLock::acquire(layout_.lock_file(info.etag), options_.lock_timeout, tell);
    if (!lock.ok()) return lock.status();
    // Another process may have downloaded the file while this one waited.
    LB_ASSIGN_OR_RETURN(is_there, has(file));
    if (is_there) return {};
    LB_ASSIGN_OR_RETURN(const bool is_blob_whole, is_whole(info));
    if (!is_blob_whole) LB_RETURN_IF_ERROR(load_blob(file, info));
    finished_bytes_ += info.size.value_or(0);
    show(0);
    LB_RETURN_IF_ERROR(layout_.put(commit_, file, info.etag, settings_.links));
    present_.insert(file);
    return {};
  }

  // A crash of the machine may leave a blob of another size.
  Result<bool> is_whole(const FileInfo& info) const {
    std::error_code error;
    const path blob = layout_.blob(info.etag);
    if (!std::filesystem::is_regular_file(blob, error)) return false;
    // Two files may have the same content, which is loaded once.
    if (content_ == CachedContent::kReplaced) return replaced_.contains(info.etag);
    if (content_ == CachedContent::kTrusted) return !info.size || size_of(blob) == *info.size;
    LB_ASSIGN_OR_RETURN(const auto difference, find_difference(blob, info));
    return !difference;
  }

  Status load_blob(const std::string& file, const FileInfo& info) {
    const std::string what = fmt::format("{} of '{}'", printable(file), name_.text());
    LB_ASSIGN_OR_RETURN(auto partial, platform::PartialFile::open(layout_.partial(info.etag)));
    // A beginning that cannot be checked is not continued.
    if (content_ == CachedContent::kReplaced && !is_commit(info.etag)) LB_RETURN_IF_ERROR(partial.clear());
    for (;;) {
      const std::uint64_t before = partial.size();
      if (before > 0) core::log(core::LogLevel::kInfo, fmt::format("{} continues after {} bytes", what, before));
      std::uint64_t last = before;
      Status status = client_.load(name_, commit_, file, info, partial, [&](std::uint64_t now) {
        loaded_bytes_ += now > last ? now - last : now;
        last = now;
        show(now);
        return check_cancelled();
      });
      if (!status.ok()) {
        if (status.code() != StatusCode::kDiskFull && status.code() != StatusCode::kIo) return status;
        return Status(status.code(), fmt::format("{}; the {} bytes that have arrived are kept for the next attempt",
                                                 status.message(), partial.size()));
      }
      Status content = check_loaded(partial, info, what);
      if (content.ok()) break;
      LB_RETURN_IF_ERROR(partial.clear());
      // The old beginning may have been wrong; content that came in one piece is the hub's.
      if (before == 0) return content;
    }
    loaded_.push_back(file);
    replaced_.insert(info.etag);
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
  const CachedContent content_;
  const ModelInfo model_;
  const std::string commit_;
  const std::optional<FileList> tree_;
  std::set<std::string, std::less<>> present_;   // with the requested content
  std::set<std::string, std::less<>> damaged_;   // files that were reported as damaged
  std::set<std::string, std::less<>> replaced_;  // ETags of contents that were downloaded now
  std::map<std::string, FileInfo> infos_;
  std::vector<std::string> loaded_;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t finished_bytes_ = 0;
  std::uint64_t loaded_bytes_ = 0;
};

Status offline_error(const Settings& settings, const ModelName& name, std::string_view what, std::string_view why) {
  return Status(StatusCode::kNotFound,
                fmt::format("HF_HUB_OFFLINE is set, and '{}' {} in the cache {} ({}); unset it, or download the model "
                            "when there is a network: latebind pull {}",
                            name.text(), what, platform::quoted(settings.cache_folder), why, name.text()));
}

// Answers from the cache if the hub cannot be asked.
Result<Snapshot> snapshot_offline(const ModelName& name, const Settings& settings, const CacheLayout& layout,
                                  CachedContent content, const Result<Snapshot>& present) {
  if (content == CachedContent::kReplaced) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("HF_HUB_OFFLINE is set, so '{}' cannot be downloaded again", name.text()));
  }
  if (!present.ok()) return offline_error(settings, name, "is not complete", present.status().message());
  if (content == CachedContent::kTrusted) return present;
  const LocalComparison compared = compare_locally(layout, *present);
  if (compared.damage.ok()) return present;
  return offline_error(settings, name, "is damaged", compared.damage.message());
}

}  // namespace

Result<Snapshot> snapshot(const ModelName& name, const Settings& settings, const SnapshotOptions& options) {
  constexpr unsigned kAttemptsMax = 5;
  constexpr unsigned kUnreachedInDoubt = 2;
  const CacheLayout layout(settings.cache_folder, name.id);
  const auto known =
      is_commit(name.revision) ? std::optional<std::string>(name.revision) : layout.read_ref(name.revision);
  Result<Snapshot> present = known ? cached(layout, name, *known, options.onnx_file)
                                   : Status(StatusCode::kNotFound, "this revision was never downloaded");
  CachedContent content = options.content;
  if (present.status().code() == StatusCode::kInvalidModel && content == CachedContent::kTrusted)
    content = CachedContent::kCompared;
  std::string doubt = known ? std::string() : options.doubt;
  const auto doubted = [&doubt](const Status& status) {
    return doubt.empty() || status.code() == StatusCode::kCancelled ? status : status.with_context(doubt);
  };
  if (settings.offline) {
    auto found = snapshot_offline(name, settings, layout, content, present);
    if (!found.ok()) return doubted(found.status());
    return found;
  }
  const bool is_there = present.ok() && content != CachedContent::kReplaced;
  // A commit never changes.
  if (is_there && is_commit(name.revision)) {
    const auto compared = content == CachedContent::kTrusted ? LocalComparison{.damage = {}, .is_whole = true}
                                                             : compare_locally(layout, *present);
    if (compared.damage.ok() && compared.is_whole) return present;
  }

  // Falls back to the cache if the hub does not answer.
  const auto stand_in = [&](const Status& why) -> Result<Snapshot> {
    if (content != CachedContent::kTrusted) {
      const auto compared = compare_locally(layout, *present);
      if (!compared.damage.ok()) return why.with_context(compared.damage.message());
    }
    const std::string fallback = fmt::format("using '{}' from the cache, commit {}", name.text(), present->commit);
    if (options.note_fallback) {
      options.note_fallback(why.message(), fallback);
    } else if (options.note) {
      options.note(fmt::format("{}; {}", why.message(), fallback));
    }
    return present;
  };
  SnapshotOptions::Note note;
  if (options.note) {
    note = [&](std::string_view text) {
      options.note(doubt.empty() ? std::string(text) : fmt::format("{}: {}", doubt, text));
    };
  }
  auto client = Client::make(settings, note);
  if (!client.ok()) return is_there ? stand_in(client.status()) : doubted(client.status());
  client->set_cancellation(options.cancellation);
  if (is_there) {
    client->set_attempts_max(1);
  } else if (!doubt.empty()) {
    client->set_attempts_max(kAttemptsMax, kUnreachedInDoubt);
  }
  auto info = client->model_info(name, content != CachedContent::kTrusted);
  if (options.cancellation.is_requested()) return Status(StatusCode::kCancelled, "loading was cancelled");
  if (!info.ok()) return is_there && client->unreachable() ? stand_in(info.status()) : doubted(info.status());
  doubt.clear();
  if (is_there && present->commit == info->commit && content == CachedContent::kTrusted) {
    present->from_cache = false;
    return present;
  }

  client->set_attempts_max(kAttemptsMax);
  const std::string commit = info->commit;
  Loader loader(*client, layout, name, settings, options, content, *std::move(info));
  LB_ASSIGN_OR_RETURN(Snapshot loaded, loader.load());
  // Written last, so that a revision never refers to an incomplete snapshot.
  LB_RETURN_IF_ERROR(layout.write_ref(name.revision, commit));
  return loaded;
}

}  // namespace latebind::embedding::hub
