#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/platform/files/file_identity_os.h"
#include "core/platform/files/file_reader.h"
#include "core/platform/os_error.h"

namespace latebind::platform {

using core::Status;
using core::StatusCode;

core::Result<std::unique_ptr<const FileReader>> FileReader::open(const std::filesystem::path& file,
                                                                 const FileIdentity& identity) {
  LB_RETURN_IF_ERROR(check_path("read", file));
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return status_of_errno("read", file, errno);
  std::unique_ptr<const FileReader> reader(new FileReader(file, descriptor));
  LB_ASSIGN_OR_RETURN(const FileIdentity now, identity_of_open_file(descriptor, file));
  // A file that was written to or truncated is accepted, because a mapping of it shows the same content.
  if (now.file != identity.file || now.device != identity.device)
    return Status(StatusCode::kIo, fmt::format("{} is another file now", quoted(file)));
  return reader;
}

FileReader::~FileReader() {
  ::close(static_cast<int>(handle_));
}

bool FileReader::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  if (failure_.load(std::memory_order_relaxed) != 0) return false;
  while (!to.empty()) {
    const ::ssize_t count = ::pread(static_cast<int>(handle_), to.data(), to.size(), static_cast<::off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      failure_.store(count < 0 ? errno : -1, std::memory_order_relaxed);
      return false;
    }
    to = to.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

Status FileReader::why_not() const {
  const int failure = failure_.load(std::memory_order_relaxed);
  if (failure == 0) return {};
  if (failure > 0) return status_of_errno("read", file_, failure);
  return Status(StatusCode::kIo, fmt::format("{} was truncated while it was in use; restore it by renaming a new file "
                                             "to its name, and open the model again",
                                             quoted(file_)));
}

}  // namespace latebind::platform
