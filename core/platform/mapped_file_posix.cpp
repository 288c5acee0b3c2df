#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/platform/mapped_file.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int number;
};

void unmap(const std::byte* data, std::size_t size) {
  if (data != nullptr) ::munmap(const_cast<std::byte*>(data), size);
}

}  // namespace

core::Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("read", file));
  // Without O_NONBLOCK a named pipe would wait here for its writer.
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
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

  MappedFile mapped;
  mapped.file_ = file;
  mapped.size_ = static_cast<std::size_t>(info.st_size);
  if (mapped.size_ == 0) return mapped;  // mmap refuses to map nothing
  void* data = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (data == MAP_FAILED) {
    mapped.size_ = 0;
    return status_of_errno("map", file, errno);
  }
  mapped.data_ = static_cast<const std::byte*>(data);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : file_(std::move(other.file_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap(data_, size_);
    file_ = std::move(other.file_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

MappedFile::~MappedFile() {
  unmap(data_, size_);
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

}  // namespace latebind::platform
