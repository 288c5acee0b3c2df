#include "core/cache/compile_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/cache/compile_entry.h"
#include "core/log.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"

namespace latebind::core {
namespace {

using std::filesystem::path;

constexpr std::string_view kSuffix = ".blob";
constexpr std::chrono::milliseconds kLockPatience{10'000};

bool is_entry_name(const path& file) {
  const std::string name = platform::path_to_utf8(file.filename());
  return name.size() == 64 + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef") == 64;
}

// The user may have named the folder, so it may have other files in it.
bool is_entry(const path& file) {
  if (!is_entry_name(file)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, kEntryMarkBytes> head{};
  stream.read(head.data(), head.size());
  return looks_like_entry(std::as_bytes(std::span(head)).first(static_cast<std::size_t>(stream.gcount())));
}

struct File {
  path place;
  std::uint64_t bytes = 0;
  std::filesystem::file_time_type last_used;
};

// A folder that does not exist has no entries.
Result<std::vector<File>> entry_files(const path& folder) {
  std::vector<File> files;
  std::error_code error;
  platform::for_each_entry(folder, error, [&](const path& file) {
    std::error_code gone;
    if (!std::filesystem::is_regular_file(file, gone) || !is_entry(file)) return true;
    File found{file, std::filesystem::file_size(file, gone), {}};
    if (!gone) found.last_used = std::filesystem::last_write_time(file, gone);
    if (!gone) files.push_back(std::move(found));
    return true;
  });
  if (error == std::errc::no_such_file_or_directory) return files;
  if (error) {
    return Status(StatusCode::kIo,
                  fmt::format("cannot read the folder '{}': {}", platform::path_to_utf8(folder), error.message()));
  }
  return files;
}

bool remove_quietly(const path& file) {
  std::error_code error;
  return std::filesystem::remove(file, error);
}

}  // namespace

CompileStore::CompileStore(path folder, std::uint64_t bytes_max, std::chrono::nanoseconds settled)
    : folder_(std::move(folder)), bytes_max_(bytes_max), digests_(folder_ / "digests", settled) {}

path CompileStore::file_of(const CompileKey& key) const {
  return folder_ / (key.digest + std::string(kSuffix));
}

Result<Blob> CompileStore::get(const CompileKey& key) {
  const path file = file_of(key);
  LB_RETURN_IF_ERROR(platform::check_folder_trust(file));
  auto mapped = platform::MappedFile::open(file);
  if (!mapped.ok()) return mapped.status();
  const auto shared = std::make_shared<const platform::MappedFile>(*std::move(mapped));
  auto entry = parse_entry(shared->bytes());
  Status status = entry.status();
  if (status.ok() && entry->header.key != key.text) {
    status = Status(StatusCode::kIo, "damaged entry: it was made for another key");
  }
  if (status.ok()) status = check_payload(*entry);
  if (!status.ok()) {
    remove_quietly(file);
    log(LogLevel::kWarning, fmt::format("removed {} from the compile cache: {}",
                                        platform::path_to_utf8(file.filename()), status.to_string()));
    return status;
  }
  // Marks the entry as used, so that it is evicted later. This fails in a read-only folder, which evicts nothing
  // either.
  std::error_code read_only;
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now(), read_only);
  const auto colon = key.device.find(':');
  return Blob{{.backend = key.device.substr(0, colon),
               .device = key.device.substr(colon + 1),
               .runtime_version = key.runtime_version,
               .precision = key.precision},
              {shared, entry->payload}};
}

Status CompileStore::check_folder() const {
  Status trust = platform::check_folder_trust(folder_);
  if (trust.code() != StatusCode::kPermissionDenied) return trust;
  return Status(trust.code(), fmt::format("{}: make sure that you own it and that only you can write to it, or set "
                                          "LATEBIND_CACHE_FOLDER to another folder",
                                          trust.message()));
}

Status CompileStore::make_folder() const {
  LB_RETURN_IF_ERROR(platform::make_private_folder(folder_));
  return check_folder();
}

Status CompileStore::put(const CompileKey& key, const Blob& blob) {
  EntryHeader header{.key = key.text,
                     .model = key.model,
                     .device = key.device,
                     .runtime_version = key.runtime_version,
                     .precision = std::string(word_of(key.precision)),
                     .payload_sum = {},
                     .payload_size = blob.bytes.bytes.size()};
  if (blob.bytes.bytes.empty()) return Status(StatusCode::kInvalidArgument, "the blob is empty");
  if (blob.bytes.bytes.size() > bytes_max_) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a blob of {} bytes is larger than the limit of the whole cache, {}",
                              blob.bytes.bytes.size(), bytes_max_));
  }
  header.payload_sum = payload_sum(blob.bytes.bytes);
  LB_ASSIGN_OR_RETURN(const std::string head, entry_head(header));
  LB_RETURN_IF_ERROR(make_folder());
  const path file = file_of(key);
  {
    LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
    LB_RETURN_IF_ERROR(output.write(head));
    LB_RETURN_IF_ERROR(output.write(blob.bytes.bytes));
    LB_RETURN_IF_ERROR(output.commit_unsynced());
  }
  return evict(file);
}

Status CompileStore::evict(const path& keep) {
  LB_ASSIGN_OR_RETURN(const auto lock, platform::FileLock::acquire(folder_ / "lock", kLockPatience));
  platform::remove_abandoned_outputs(folder_);
  LB_ASSIGN_OR_RETURN(auto files, entry_files(folder_));
  std::uint64_t total = 0;
  for (const File& file : files)
    total += file.bytes;
  std::ranges::sort(files, {}, &File::last_used);
  for (const File& file : files) {
    if (total <= bytes_max_) break;
    if (file.place == keep) continue;
    if (remove_quietly(file.place)) total -= file.bytes;
  }
  return {};
}

void CompileStore::drop(const CompileKey& key) {
  remove_quietly(file_of(key));
}

namespace {

// `whole` includes the payload's checksum.
CompileStore::Entry look_at(const File& file, bool whole) {
  CompileStore::Entry entry{.file = file.place,
                            .model = {},
                            .device = {},
                            .runtime_version = {},
                            .precision = {},
                            .bytes = file.bytes,
                            .last_used = file.last_used,
                            .status = {}};
  const auto mapped = platform::MappedFile::open(file.place);
  if (!mapped.ok()) {
    entry.status = mapped.status();
    return entry;
  }
  const auto parsed = parse_entry(mapped->bytes());
  if (!parsed.ok()) {
    entry.status = parsed.status();
    return entry;
  }
  if (whole) entry.status = check_payload(*parsed);
  entry.model = parsed->header.model;
  entry.device = parsed->header.device;
  entry.runtime_version = parsed->header.runtime_version;
  entry.precision = parsed->header.precision;
  return entry;
}

}  // namespace

Result<std::vector<CompileStore::Entry>> CompileStore::list() const {
  LB_ASSIGN_OR_RETURN(auto files, entry_files(folder_));
  std::ranges::sort(files, std::ranges::greater(), &File::last_used);
  std::vector<Entry> entries;
  for (const File& file : files) {
    Entry entry = look_at(file, false);
    if (entry.status.code() != StatusCode::kNotFound)
      entries.push_back(std::move(entry));  // otherwise it was just removed
  }
  return entries;
}

Result<CompileStore::Freed> CompileStore::clear() {
  Freed freed;
  std::error_code error;
  const auto type = std::filesystem::status(folder_, error).type();
  // `none`: the folder may not even be examined, and check_folder() says why.
  if (type != std::filesystem::file_type::directory && type != std::filesystem::file_type::none) return freed;
  LB_RETURN_IF_ERROR(check_folder());
  freed.bytes += platform::remove_abandoned_outputs(folder_);
  // A folder that was never a cache gets no lock file.
  LB_ASSIGN_OR_RETURN(const auto seen, entry_files(folder_));
  const bool has_digests = std::filesystem::exists(folder_ / "digests", error) && digests_.is_ours();
  if (seen.empty() && !has_digests) return freed;
  LB_ASSIGN_OR_RETURN(const auto lock, platform::FileLock::acquire(folder_ / "lock", kLockPatience));
  LB_ASSIGN_OR_RETURN(const auto files, entry_files(folder_));
  for (const File& file : files) {
    std::filesystem::remove(file.place, error);
    if (error) {
      return Status(StatusCode::kPermissionDenied,
                    fmt::format("cannot remove '{}': {}", platform::path_to_utf8(file.place), error.message()));
    }
    ++freed.entries;
    freed.bytes += file.bytes;
  }
  if (has_digests) remove_quietly(folder_ / "digests");
  return freed;
}

Result<std::vector<CompileStore::Entry>> CompileStore::verify() {
  LB_RETURN_IF_ERROR(check_folder());
  LB_ASSIGN_OR_RETURN(const auto files, entry_files(folder_));
  std::vector<Entry> damaged;
  for (const File& file : files) {
    Entry entry = look_at(file, true);
    if (entry.status.ok() || entry.status.code() == StatusCode::kNotFound) continue;
    if (entry.status.code() != StatusCode::kPermissionDenied) remove_quietly(file.place);
    damaged.push_back(std::move(entry));
  }
  return damaged;
}

}  // namespace latebind::core
