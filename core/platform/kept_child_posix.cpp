#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>

#include "core/platform/kept_child.h"

namespace latebind::platform {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// How often a child looks whether its parent still lives. The end of the socket is seen at once, unless a process that
// the parent forked holds it, too.
constexpr int kParentPause = 1000;

Status failed(std::string_view what) {
  const int error = errno;
  const bool is_short = error == EMFILE || error == ENFILE || error == EAGAIN;
  const auto code = error == ENOMEM ? StatusCode::kOutOfMemory : is_short ? StatusCode::kBusy : StatusCode::kIo;
  return Status(code, fmt::format("cannot {}: {}", what, std::generic_category().message(error)));
}

Status gone() {
  return Status(StatusCode::kIo, "the other process has closed the connection");
}

struct Control {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes{};
};

Result<std::span<std::byte>> mapped(int file, std::size_t size) {
  void* const place = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (place == MAP_FAILED) return failed("map shared memory");
  return std::span(static_cast<std::byte*>(place), size);
}

// Receives exactly these bytes.
Status receive(int socket, void* to, std::size_t size, OwnedFile* file) {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    iovec part{at, size};
    Control control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); count >= 0 && one != nullptr; one = CMSG_NXTHDR(&message, one)) {
      if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(one), sizeof descriptor);
      OwnedFile taken(descriptor);
      if (file != nullptr) *file = std::move(taken);
    }
    if (count <= 0) return gone();
    at += count;
    size -= static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<SharedMemory> SharedMemory::create(std::size_t size) {
  SharedMemory memory;
  memory.file_ = OwnedFile(::memfd_create("latebind", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const int file = memory.file_.get();
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) return failed("create shared memory");
  if (::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return failed("seal shared memory");
  LB_ASSIGN_OR_RETURN(memory.bytes_, mapped(file, size));
  return memory;
}

Result<SharedMemory> SharedMemory::map(OwnedFile file) {
  SharedMemory memory;
  memory.file_ = std::move(file);
  struct stat about {};
  if (::fstat(memory.file_.get(), &about) != 0 || about.st_size <= 0) return failed("examine shared memory");
  LB_ASSIGN_OR_RETURN(memory.bytes_, mapped(memory.file_.get(), static_cast<std::size_t>(about.st_size)));
  return memory;
}

Result<std::pair<OwnedFile, OwnedFile>> connected_sockets() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed("create a socket");
  return std::pair(OwnedFile(ends[0]), OwnedFile(ends[1]));
}

Status send_message(int socket, std::string_view bytes, int file) {
  std::uint64_t size = bytes.size();
  std::array<iovec, 2> parts{iovec{&size, sizeof size}, iovec{const_cast<char*>(bytes.data()), bytes.size()}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  Control control;
  if (file >= 0) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    cmsghdr* const one = CMSG_FIRSTHDR(&message);
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(one), &file, sizeof file);
  }
  while (message.msg_iovlen > 0) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return gone();
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    auto left = static_cast<std::size_t>(sent);
    while (message.msg_iovlen > 0 && left >= message.msg_iov->iov_len) {
      left -= message.msg_iov->iov_len;
      ++message.msg_iov;
      --message.msg_iovlen;
    }
    if (message.msg_iovlen == 0) break;
    message.msg_iov->iov_base = static_cast<char*>(message.msg_iov->iov_base) + left;
    message.msg_iov->iov_len -= left;
  }
  return {};
}

Result<std::string> receive_message(int socket, std::size_t size_max, OwnedFile* file) {
  std::uint64_t size = 0;
  LB_RETURN_IF_ERROR(receive(socket, &size, sizeof size, file));
  if (size > size_max)
    return Status(StatusCode::kIo, fmt::format("a message says that it has {} bytes; {} are allowed", size, size_max));
  std::string bytes(size, '\0');
  LB_RETURN_IF_ERROR(receive(socket, bytes.data(), bytes.size(), file));
  return bytes;
}

bool wait_for_message(int socket, int milliseconds) {
  pollfd watched{socket, POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) > 0;
}

bool wait_for_parent(int socket) {
  static const pid_t parent = ::getppid();
  while (!wait_for_message(socket, kParentPause)) {
    if (::getppid() != parent) return false;
  }
  return true;
}

}  // namespace latebind::platform
