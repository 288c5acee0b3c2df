#include "core/platform/files/output_file.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/output_file_os.h"
#include "core/platform/files/output_lock.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;

Status used_up() {
  return Status(StatusCode::kInternal, "an output file was used after it was committed or moved");
}

const char* chars_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

core::Result<OutputFile> OutputFile::create(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("write", file));
  LB_ASSIGN_OR_RETURN(OpenedOutput opened, open_output(file));
  OutputFile output;
  output.file_ = std::move(opened.target);
  output.temporary_ = std::move(opened.temporary);
  output.handle_ = opened.handle;
  if (!output.temporary_.empty()) add_leftover(output.temporary_);
  return output;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::exchange(other.buffer_, {})),
      size_(std::exchange(other.size_, 0)),
      handle_(std::exchange(other.handle_, -1)),
      made_(other.made_),
      failure_(std::exchange(other.failure_, {})) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    discard();
    file_ = std::move(other.file_);
    temporary_ = std::exchange(other.temporary_, {});
    buffer_ = std::exchange(other.buffer_, {});
    size_ = std::exchange(other.size_, 0);
    handle_ = std::exchange(other.handle_, -1);
    made_ = other.made_;
    failure_ = std::exchange(other.failure_, {});
  }
  return *this;
}

OutputFile::~OutputFile() {
  discard();
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  LB_RETURN_IF_ERROR(failure_);
  if (handle_ < 0) return used_up();
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    LB_RETURN_IF_ERROR(flush());
  }
  if (bytes.size() > kBufferBytes) {
    failure_ = write_output(handle_, chars_of(bytes), bytes.size(), file_);
    LB_RETURN_IF_ERROR(failure_);
  } else {
    buffer_.append(chars_of(bytes), bytes.size());
  }
  size_ += bytes.size();
  return Status();
}

Status OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Status OutputFile::write_at(std::size_t offset, std::span<const std::byte> bytes) {
  LB_RETURN_IF_ERROR(failure_);
  if (handle_ < 0) return used_up();
  if (offset > size_ || bytes.size() > size_ - offset) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot overwrite {} bytes at {} of {}: only {} bytes have been written", bytes.size(),
                              offset, quoted(file_), size_));
  }
  const std::size_t flushed = size_ - buffer_.size();
  if (offset >= flushed) {
    buffer_.replace(offset - flushed, bytes.size(), chars_of(bytes), bytes.size());
    return Status();
  }
  if (!is_rewritable()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("cannot seek in {}: it is not a regular file; write to a file", quoted(file_)));
  }
  LB_RETURN_IF_ERROR(flush());
  failure_ = write_output_at(handle_, offset, chars_of(bytes), bytes.size(), file_);
  return failure_;
}

Status OutputFile::flush() {
  if (buffer_.empty()) return Status();
  failure_ = write_output(handle_, buffer_.data(), buffer_.size(), file_);
  buffer_.clear();
  return failure_;
}

Status OutputFile::commit() {
  return finish(true);
}

Status OutputFile::commit_unsynced() {
  return finish(false);
}

Status OutputFile::finish(bool to_disk) {
  Status status = failure_;
  if (status.ok() && handle_ < 0) return used_up();
  if (status.ok()) status = flush();
  if (status.ok() && to_disk) status = sync_output(handle_, file_);
  if (status.ok()) status = close_output(std::exchange(handle_, -1), file_);
  if (status.ok() && !temporary_.empty()) {
    drop_leftover(temporary_);
    status = replace_output(temporary_, file_, to_disk ? Sync::kToDisk : Sync::kNone);
    if (status.ok()) temporary_.clear();
  }
  failure_ = status;
  discard();
  return status;
}

void OutputFile::discard() noexcept {
  if (handle_ >= 0) close_output_quietly(std::exchange(handle_, -1));
  const auto temporary = std::exchange(temporary_, {});
  if (temporary.empty() || !made_.this_process()) return;
  remove_output_quietly(temporary);
  drop_leftover(temporary);
}

std::uint64_t remove_abandoned_outputs(const std::filesystem::path& folder) noexcept {
  std::uint64_t freed = 0;
  remove_abandoned_locks(folder);
  try {
    std::error_code error;
    for_each_entry(folder, error, [&](const std::filesystem::path& file) {
      if (!is_temporary_name(path_to_utf8(file.filename()))) return true;
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored)) || !is_abandoned(file) ||
          !is_left_alone(file)) {
        return true;
      }
      const auto size = std::filesystem::file_size(file, ignored);
      if (!ignored && std::filesystem::remove(file, ignored)) freed += size;
      return true;
    });
  } catch (const std::exception&) {
    // No memory for a name; a later call removes the rest.
  }
  return freed;
}

Status write_file_unsynced(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  LB_ASSIGN_OR_RETURN(auto output, OutputFile::create(file));
  LB_RETURN_IF_ERROR(output.write(bytes));
  return output.commit_unsynced();
}

}  // namespace latebind::platform
