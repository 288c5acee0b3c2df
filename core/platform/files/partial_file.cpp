#include "core/platform/files/partial_file.h"

#include <fmt/format.h>

#include <utility>

#include "core/platform/files/output_file_os.h"
#include "core/platform/files/partial_file_os.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

core::Result<PartialFile> PartialFile::open(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("write", file));
  LB_ASSIGN_OR_RETURN(const OpenedPartial opened, open_partial(file));
  PartialFile partial;
  partial.file_ = file;
  partial.size_ = opened.size;
  partial.handle_ = opened.handle;
  return partial;
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : file_(std::move(other.file_)), size_(other.size_), handle_(std::exchange(other.handle_, -1)) {}

PartialFile& PartialFile::operator=(PartialFile&& other) noexcept {
  if (this != &other) {
    close();
    file_ = std::move(other.file_);
    size_ = other.size_;
    handle_ = std::exchange(other.handle_, -1);
  }
  return *this;
}

PartialFile::~PartialFile() {
  close();
}

Status PartialFile::write(std::string_view bytes) {
  Status status = write_output(handle_, bytes.data(), bytes.size(), file_);
  size_ = status.ok() ? size_ + bytes.size() : size_of_partial(handle_, size_);
  return status;
}

Status PartialFile::cut(std::uint64_t size) {
  if (size > size_) return Status(StatusCode::kInternal, "a partial file has fewer bytes than are to be kept");
  LB_RETURN_IF_ERROR(cut_partial(handle_, size, file_));
  size_ = size;
  return Status();
}

Status PartialFile::write_at(std::uint64_t offset, std::string_view bytes) {
  if (offset > size_ || bytes.size() > size_ - offset) {
    return Status(StatusCode::kInternal, "a partial file has fewer bytes than are to be overwritten");
  }
  return write_output_at(handle_, offset, bytes.data(), bytes.size(), file_);
}

Status PartialFile::sync() {
  return sync_output(handle_, file_);
}

Status PartialFile::finish(const std::filesystem::path& target) {
  if (handle_ < 0) return Status(StatusCode::kInternal, "a partial file was used after it was finished");
  LB_RETURN_IF_ERROR(sync_output(handle_, file_));
  LB_RETURN_IF_ERROR(close_output(std::exchange(handle_, -1), file_));
  return replace_output(file_, target, Sync::kToDisk);
}

void PartialFile::close() noexcept {
  if (handle_ >= 0) close_output_quietly(std::exchange(handle_, -1));
}

}  // namespace latebind::platform
