#include "app/bulk/partial_output.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <span>
#include <system_error>
#include <utility>

#include "app/bulk/manifest.h"
#include "core/json/read.h"
#include "core/platform/digest.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/small_file.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/os_error.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;
constexpr std::size_t kProgressBytesMax = 4096;
constexpr const char* kManifest = "manifest.json";
constexpr const char* kProgress = "progress.json";
constexpr const char* kVectors = "vectors";
constexpr const char* kIds = "ids";
constexpr const char* kLock = ".lock";
constexpr const char* kDigest = "sha256";  // of everything that precedes it in the progress file
constexpr std::array kOwnFiles{kProgress, kManifest, kVectors, kIds};

// Calls `take` with the name of each number.
template <class Progress, class Take>
void each_number(Progress& progress, const Take& take) {
  take("texts", progress.texts);
  take("file", progress.file);
  take("offset", progress.offset);
  take("line", progress.line);
  take("bytes", progress.bytes);
  take("id_bytes", progress.id_bytes);
}

std::string text_of(const PartialProgress& progress) {
  Json json;
  each_number(progress, [&json](const char* name, std::uint64_t number) { json[name] = number; });
  json["has_ids"] = progress.has_ids;
  const std::string numbers = to_line(json);
  json[kDigest] = platform::sha256_hex(std::as_bytes(std::span(numbers)));
  return to_line(json) + "\n";
}

// Returns std::nullopt unless the text is exactly what would be written, including the digest.
std::optional<PartialProgress> parse_progress(const std::string& text) {
  const auto json = core::parse_json(text, kProgress, {.bytes_max = kProgressBytesMax});
  if (!json.ok()) return std::nullopt;
  PartialProgress progress;
  each_number(progress, [&json](const char* name, std::uint64_t& number) {
    const auto* const found = core::find_member(*json, name);
    if (found != nullptr && found->is_number_unsigned()) number = found->get<std::uint64_t>();
  });
  const auto* const has_ids = core::find_member(*json, "has_ids");
  progress.has_ids = has_ids != nullptr && has_ids->is_boolean() && has_ids->get<bool>();
  if (text != text_of(progress)) return std::nullopt;
  return progress;
}

Status write_whole(const path& file, const std::string& text) {
  LB_ASSIGN_OR_RETURN(auto output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(text));
  return output.commit();
}

// A replaced file keeps its permissions.
void take_permissions(const path& from, const path& to) {
  std::error_code ignored;
  const auto status = std::filesystem::status(from, ignored);
  if (std::filesystem::is_regular_file(status)) std::filesystem::permissions(to, status.permissions(), ignored);
}

}  // namespace

path ids_file_of(const path& output) {
  path file = output;
  file += ".ids.jsonl";
  return file;
}

Status PartialOutput::Stream::write(std::string_view bytes) {
  LB_RETURN_IF_ERROR(failure);
  if (buffer.size() + bytes.size() > kBufferBytes) LB_RETURN_IF_ERROR(flush());
  if (bytes.size() > kBufferBytes) return failure = file->write(bytes);
  buffer.append(bytes);
  return {};
}

Status PartialOutput::Stream::flush() {
  if (!failure.ok() || buffer.empty()) return failure;
  failure = file->write(buffer);
  buffer.clear();
  return failure;
}

PartialOutput::PartialOutput(path output, path folder) : output_(std::move(output)), folder_(std::move(folder)) {}

PartialOutput::PartialOutput(PartialOutput&& other) noexcept
    : output_(std::move(other.output_)),
      folder_(std::exchange(other.folder_, {})),
      lock_(std::exchange(other.lock_, std::nullopt)),
      manifest_(std::exchange(other.manifest_, std::nullopt)),
      progress_(other.progress_),
      vectors_(std::move(other.vectors_)),
      ids_(std::move(other.ids_)) {}

Result<PartialOutput> PartialOutput::open(const path& output) {
  // Reports an invalid place as every other output does; the temporary file is dropped.
  {
    LB_ASSIGN_OR_RETURN(const auto place, platform::OutputFile::create(output));
    if (!place.is_rewritable()) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("{} is not a regular file, so the output is written to it directly", platform::quoted(output)));
    }
  }
  std::error_code error;
  path real = std::filesystem::weakly_canonical(platform::anchored(output), error);
  if (error) return platform::status_of_errno("write", output, error.default_error_condition().value());
  path folder = real;
  folder += ".part";
  const auto kind = std::filesystem::symlink_status(folder, error).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::directory) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} is not a folder, and an unfinished output is kept there: remove it", platform::quoted(folder)));
  }
  std::filesystem::create_directory(folder, error);
  if (error) return platform::status_of_errno("create", folder, error.default_error_condition().value());
  auto lock = platform::FileLock::acquire(folder / kLock, std::chrono::milliseconds(0));
  if (!lock.ok() && lock.status().code() == StatusCode::kBusy) {
    return Status(StatusCode::kBusy,
                  fmt::format("another run is writing {}; wait until it ends", platform::quoted(output)));
  }
  PartialOutput partial(std::move(real), std::move(folder));
  // On a file system without locks, none is held.
  if (lock.ok()) partial.lock_ = *std::move(lock);
  if (Status loaded = partial.load(); !loaded.ok()) {
    // What is refused is somebody else's, and stays.
    partial.leave();
    return loaded;
  }
  return partial;
}

PartialOutput::~PartialOutput() {
  if (folder_.empty()) return;
  // Bytes after the last save are useless and may fill the disk.
  if (manifest_ && !vectors_.failure.ok()) static_cast<void>(vectors_.file->cut(progress_.bytes));
  vectors_.file.reset();
  ids_.file.reset();
  if (!manifest_) remove_files();
}

Status PartialOutput::check_entries() const {
  std::error_code error;
  std::string other;
  platform::for_each_entry(folder_, error, [&](const path& entry) {
    const std::string name = platform::path_to_utf8(entry.filename());
    const bool is_own =
        name == kLock || platform::is_temporary_name(name) || std::ranges::find(kOwnFiles, name) != kOwnFiles.end();
    std::error_code ignored;
    if (is_own && std::filesystem::is_regular_file(std::filesystem::symlink_status(entry, ignored))) return true;
    other = name;
    return false;
  });
  if (other.empty()) return {};
  return Status(
      StatusCode::kInvalidArgument,
      fmt::format("{} has '{}' in it, which belongs to no unfinished output of this command; move it away, or "
                  "write to another file",
                  platform::quoted(folder_), other));
}

Status PartialOutput::load() {
  const auto text = platform::read_small_file(folder_ / kManifest, kManifestBytesMax);
  if (!text.ok() && text.status().code() != StatusCode::kNotFound) return text.status();
  if (text.ok()) {
    LB_ASSIGN_OR_RETURN(manifest_, parse_manifest(*text, platform::quoted(folder_ / kManifest)));
    const auto kind = manifest_->find("kind");
    if (kind == nullptr || *kind != "file") {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format(
              "{} has an unfinished output of latebind.bulk; finish it with the same command, or remove the folder",
              platform::quoted(folder_)));
    }
  }
  LB_RETURN_IF_ERROR(check_entries());
  platform::remove_abandoned_outputs(folder_);
  const auto progress = platform::read_small_file(folder_ / kProgress, kProgressBytesMax);
  const auto parsed = progress.ok() ? parse_progress(*progress) : std::nullopt;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(folder_ / kVectors, error);
  const bool has_bytes = !error && parsed && bytes >= parsed->bytes;
  const auto id_bytes = std::filesystem::file_size(folder_ / kIds, error);
  if (!manifest_ || !has_bytes || (parsed->id_bytes > 0 && (error || id_bytes < parsed->id_bytes))) return restart();
  progress_ = *parsed;
  return {};
}

Status PartialOutput::restart() {
  manifest_.reset();
  progress_ = {};
  for (const char* const name : kOwnFiles) {
    std::error_code error;
    std::filesystem::remove(folder_ / name, error);
    if (error) return platform::status_of_errno("remove", folder_ / name, error.default_error_condition().value());
  }
  return {};
}

Status PartialOutput::begin() {
  // Until the first save, a signal removes the folder.
  if (!manifest_) platform::add_leftover(folder_);
  LB_ASSIGN_OR_RETURN(vectors_.file, platform::PartialFile::open(folder_ / kVectors));
  LB_ASSIGN_OR_RETURN(ids_.file, platform::PartialFile::open(folder_ / kIds));
  LB_RETURN_IF_ERROR(vectors_.file->cut(progress_.bytes));
  return ids_.file->cut(progress_.id_bytes);
}

Status PartialOutput::write(std::string_view bytes) {
  return vectors_.write(bytes);
}

Status PartialOutput::write_id(std::string_view line) {
  return ids_.write(line);
}

Status PartialOutput::flush() {
  LB_RETURN_IF_ERROR(vectors_.flush());
  return ids_.flush();
}

Status PartialOutput::rewrite(std::uint64_t offset, std::string_view bytes) {
  LB_RETURN_IF_ERROR(flush());
  return vectors_.file->write_at(offset, bytes);
}

Status PartialOutput::save(const Json& manifest, PartialProgress progress) {
  LB_RETURN_IF_ERROR(flush());
  progress.bytes = vectors_.file->size();
  progress.id_bytes = ids_.file->size();
  LB_RETURN_IF_ERROR(vectors_.file->sync());
  if (progress.has_ids) LB_RETURN_IF_ERROR(ids_.file->sync());
  if (!manifest_) LB_RETURN_IF_ERROR(write_whole(folder_ / kManifest, to_text(manifest)));
  LB_RETURN_IF_ERROR(write_whole(folder_ / kProgress, text_of(progress)));
  if (!manifest_) platform::drop_leftover(folder_);
  manifest_ = manifest;
  progress_ = progress;
  return {};
}

Status PartialOutput::finish(bool has_ids) {
  LB_RETURN_IF_ERROR(flush());
  const path ids = ids_file_of(output_);
  if (has_ids) {
    take_permissions(ids, folder_ / kIds);
    LB_RETURN_IF_ERROR(ids_.file->finish(ids));
  } else {
    // Ids of a replaced output would be stale.
    std::error_code ignored;
    if (std::filesystem::exists(output_, ignored)) std::filesystem::remove(ids, ignored);
  }
  take_permissions(output_, folder_ / kVectors);
  LB_RETURN_IF_ERROR(vectors_.file->finish(output_));
  vectors_.file.reset();
  ids_.file.reset();
  remove_files();
  return {};
}

void PartialOutput::remove_files() noexcept {
  std::error_code ignored;
  for (const char* const name : kOwnFiles)
    std::filesystem::remove(folder_ / name, ignored);
  leave();
}

void PartialOutput::leave() noexcept {
  if (lock_) lock_->remove(folder_ / kLock);
  lock_.reset();
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);
  platform::drop_leftover(folder_);
  folder_.clear();
}

}  // namespace latebind::app
