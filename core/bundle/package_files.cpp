#include "core/bundle/package_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "core/bundle/path_rules.h"
#include "core/bundle/refusals.h"
#include "core/bundle/zip_format.h"
#include "core/bundle/zip_reader.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

using platform::MappedFile;
using platform::path_from_utf8;
using platform::path_to_utf8;
using std::filesystem::path;

using SharedFile = std::shared_ptr<const MappedFile>;

Result<SharedFile> map(const path& file) {
  LB_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(file));
  return std::make_shared<const MappedFile>(std::move(mapped));
}

// Returns the path with '/' on every system.
std::string package_path_of(const path& relative) {
  std::string text;
  for (const path& part : relative) {
    if (!text.empty()) text += '/';
    text += path_to_utf8(part);
  }
  return text;
}

Result<ZipReader> open_zip(SharedBytes bytes, const std::string& name) {
  if (!looks_like_zip(bytes.bytes)) return invalid_bundle(name, "not a bundle: neither a folder nor a ZIP");
  return ZipReader::open(std::move(bytes), name);
}

bool is_absolute(std::string_view text) {
  return path_from_utf8(std::string(text)).is_absolute();
}

}  // namespace

struct PackageFiles::State {
  std::string name;
  Outside outside = Outside::kRefused;
  path root;  // the folder, canonical; for a ZIP its file, or empty when it is in memory
  // For a ZIP.
  std::optional<ZipReader> zip;
  platform::FileIdentity identity;
  // For a folder: the mappings in use, by canonical path.
  mutable Mutex mutex;
  mutable std::map<path, std::weak_ptr<const MappedFile>> mapped LB_GUARDED_BY(mutex);

  Result<SharedFile> map_once(const path& file) const {
    const MutexLock lock(mutex);
    auto& known = mapped[file];
    if (auto held = known.lock()) return held;
    LB_ASSIGN_OR_RETURN(auto opened, map(file));
    known = opened;
    return opened;
  }

  // Returns where the path of a folder's file leads.
  [[nodiscard]] Result<path> locate(std::string_view relative) const {
    if (outside == Outside::kAllowed && is_absolute(relative)) return path_from_utf8(std::string(relative));
    if (!relative.empty()) LB_RETURN_IF_ERROR(check_package_path(relative, name));
    const path joined = relative.empty() ? root : root / path_from_utf8(std::string(relative));
    std::error_code error;
    path found = std::filesystem::canonical(joined, error);
    if (error) {
      return Status(error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory
                        ? StatusCode::kNotFound
                        : StatusCode::kIo,
                    fmt::format("{}: cannot find '{}': {}", name, printable(relative), error.message()));
    }
    if (!relative.empty() && outside == Outside::kRefused && (found == root || !platform::is_within(found, root))) {
      return invalid_bundle(name, fmt::format("'{}' is a link that leads out of the package", printable(relative)));
    }
    return found;
  }
};

Result<PackageFiles> PackageFiles::open(const path& place, Outside outside) {
  auto state = std::make_shared<State>();
  state->name = path_to_utf8(place);
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) {
    state->outside = outside;
    state->root = std::filesystem::canonical(place, error);
    if (error) return platform::status_of_errno("open", place, error.value());
    return PackageFiles(std::move(state));
  }
  LB_ASSIGN_OR_RETURN(const SharedFile mapped, map(platform::anchored(place)));
  state->root = mapped->file();
  state->identity = mapped->identity();
  LB_ASSIGN_OR_RETURN(state->zip, open_zip(FilePart::of(mapped).bytes, state->name));
  return PackageFiles(std::move(state));
}

Result<PackageFiles> PackageFiles::from_zip(SharedBytes bytes, const std::string& name) {
  auto state = std::make_shared<State>();
  state->name = name;
  LB_ASSIGN_OR_RETURN(state->zip, open_zip(std::move(bytes), name));
  return PackageFiles(std::move(state));
}

bool PackageFiles::is_zip() const {
  return state_->zip.has_value();
}

const std::string& PackageFiles::name() const {
  return state_->name;
}

Result<std::vector<PackageFiles::File>> PackageFiles::list() const {
  std::vector<File> files;
  if (state_->zip) {
    for (const ZipEntry& entry : state_->zip->entries())
      files.push_back({entry.name, entry.size, entry.crc32});
    return files;
  }
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(state_->root, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string relative = package_path_of(entry->path().lexically_relative(state_->root));
    LB_RETURN_IF_ERROR(check_package_path(relative, state_->name));
    std::error_code ignored;
    const bool is_link = entry->is_symlink(ignored);
    if (entry->is_directory(ignored)) {
      if (!is_link) continue;
      return invalid_bundle(state_->name, fmt::format("'{}' is a link to a folder", printable(relative)));
    }
    if (is_link) LB_RETURN_IF_ERROR(state_->locate(relative).status());
    if (!entry->is_regular_file(ignored)) {
      return invalid_bundle(state_->name, fmt::format("'{}' is neither a file nor a folder", printable(relative)));
    }
    const auto size = entry->file_size(error);
    if (error) break;
    files.push_back({relative, size, 0});
    if (files.size() > zip::kEntriesMax) {
      return invalid_bundle(state_->name, fmt::format("more than {} files", zip::kEntriesMax));
    }
  }
  if (error) return platform::status_of_errno("list", state_->root, error.value());
  std::ranges::sort(files, {}, &File::path);
  return files;
}

Result<std::vector<std::string>> PackageFiles::list_folders() const {
  if (state_->zip) return std::vector<std::string>(state_->zip->folders().begin(), state_->zip->folders().end());
  std::vector<std::string> folders;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(state_->root, error);
  for (const std::filesystem::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored) || entry->is_symlink(ignored)) continue;
    folders.push_back(package_path_of(entry->path().lexically_relative(state_->root)));
    if (folders.size() > zip::kEntriesMax) {
      return invalid_bundle(state_->name, fmt::format("more than {} folders", zip::kEntriesMax));
    }
  }
  if (error) return platform::status_of_errno("list", state_->root, error.value());
  return folders;
}

Result<FilePart> PackageFiles::part(std::string_view relative) const {
  if (state_->zip) {
    const ZipEntry* entry = state_->zip->find(relative);
    if (entry == nullptr) {
      return Status(StatusCode::kNotFound, fmt::format("{}: it has no file '{}'", name(), printable(relative)));
    }
    return FilePart{.where = {state_->root, entry->offset, entry->size},
                    .identity = state_->identity,
                    .bytes = state_->zip->bytes_of(*entry)};
  }
  if (relative.empty()) return invalid_bundle(name(), "the path is empty");
  LB_ASSIGN_OR_RETURN(const path file, state_->locate(relative));
  LB_ASSIGN_OR_RETURN(const SharedFile mapped, state_->map_once(file));
  return FilePart::of(mapped);
}

Result<SharedBytes> PackageFiles::read(std::string_view relative) const {
  LB_ASSIGN_OR_RETURN(FilePart found, part(relative));
  return std::move(found.bytes);
}

bool PackageFiles::has_file(std::string_view relative) const {
  if (state_->zip) return state_->zip->find(relative) != nullptr;
  const auto file = relative.empty() ? Result<path>(invalid_bundle(name(), "no file")) : state_->locate(relative);
  std::error_code error;
  return file.ok() && std::filesystem::is_regular_file(*file, error);
}

bool PackageFiles::has_folder(std::string_view relative) const {
  if (state_->zip) return state_->zip->has_folder(relative);
  const auto folder = state_->locate(relative);
  std::error_code error;
  return folder.ok() && std::filesystem::is_directory(*folder, error);
}

std::vector<SourceFile> PackageFiles::source() const {
  if (!state_->zip || state_->root.empty()) return {};
  return {{.file = state_->root, .identity = state_->identity, .mapped = true}};
}

Status PackageFiles::check(std::string_view relative) const {
  if (!state_->zip) return Status();
  const ZipEntry* entry = state_->zip->find(relative);
  if (entry != nullptr) return state_->zip->check(*entry);
  return Status(StatusCode::kNotFound, fmt::format("{}: it has no file '{}'", name(), printable(relative)));
}

std::span<const PackageFiles::File> files_below(std::span<const PackageFiles::File> all, std::string_view folder) {
  if (folder.empty()) return all;
  const auto path_of = [](const PackageFiles::File& file) { return std::string_view(file.path); };
  const std::string prefix = std::string(folder) + "/";
  const auto begin = std::ranges::lower_bound(all, std::string_view(prefix), {}, path_of);
  auto end = begin;
  while (end != all.end() && end->path.starts_with(prefix))
    ++end;
  return {begin, end};
}

}  // namespace latebind::core
