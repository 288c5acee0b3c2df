#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "core/platform/files/file_identity_os.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

struct OpenFile {
  explicit OpenFile(int opened) : number(opened) {}
  OpenFile(OpenFile&& other) noexcept : number(std::exchange(other.number, -1)) {}
  OpenFile& operator=(OpenFile&& other) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  int number;
};

core::Result<OpenFile> open_regular(const std::filesystem::path& file, FileIdentity& identity) {
  LB_RETURN_IF_ERROR(check_path("read", file));
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  OpenFile descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (descriptor.number < 0) return status_of_errno("read", file, errno);
  struct stat info {};
  if (::fstat(descriptor.number, &info) != 0) return status_of_errno("read", file, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot read {}: {}", quoted(file),
                              S_ISDIR(info.st_mode) ? "it is a folder, not a file" : "it is not a regular file"));
  }
  if (static_cast<std::uintmax_t>(info.st_size) > std::numeric_limits<std::size_t>::max()) {
    return status_of_errno("map", file, ENOMEM);
  }
  LB_ASSIGN_OR_RETURN(identity, identity_of_open_file(descriptor.number, file));
  return descriptor;
}

}  // namespace

core::Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  MappedFile mapped;
  mapped.file_ = file;
  LB_ASSIGN_OR_RETURN(const OpenFile descriptor, open_regular(file, mapped.identity_));
  const auto size = static_cast<std::size_t>(mapped.identity_.size);
  if (size == 0) return mapped;  // mmap refuses to map nothing
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (data == MAP_FAILED) return status_of_errno("map", file, errno);
  mapped.data_ = {static_cast<const std::byte*>(data), Unmap{size}};
  return mapped;
}

core::Result<MappedFile> MappedFile::with_tail(const FileRange& part, const FileIdentity& identity,
                                               std::span<const std::byte> bytes, std::span<const std::byte> tail) {
  MappedFile joined;
  joined.file_ = part.file;
  joined.identity_ = identity;
  const std::size_t offset = tail_offset(bytes.size());
  if (offset < bytes.size() || offset + tail.size() < offset) return status_of_errno("map", part.file, ENOMEM);
  if (offset + tail.size() == 0) return joined;
  // Reserves memory for everything, then maps the file over its beginning.
  void* data = ::mmap(nullptr, offset + tail.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return status_of_errno("map", part.file, errno);
  joined.data_ = {static_cast<const std::byte*>(data), Unmap{offset + tail.size()}};
  if (!tail.empty()) std::memcpy(static_cast<std::byte*>(data) + offset, tail.data(), tail.size());
  FileIdentity now;
  const auto descriptor = part.file.empty() ? Status(StatusCode::kNotFound, "") : open_regular(part.file, now);
  const bool mappable = descriptor.ok() && now == identity && part.size == bytes.size() &&
                        part.offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) == 0;
  if (!mappable && !bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  if (::mprotect(data, offset + tail.size(), PROT_READ) != 0) return status_of_errno("map", part.file, errno);
  if (mappable && !bytes.empty() &&
      ::mmap(data, bytes.size(), PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor->number,
             static_cast<off_t>(part.offset)) == MAP_FAILED) {
    return status_of_errno("map", part.file, errno);
  }
  return joined;
}

void MappedFile::Unmap::operator()(const std::byte* data) const noexcept {
  ::munmap(const_cast<std::byte*>(data), size);
}

}  // namespace latebind::platform
