// KeptChild: a program that runs as a child of this process until it is ended, with a socket between both; and what
// goes over such a socket: messages, each with at most one file, and memory that both processes see.
//
// The child has one end of the socket as its standard input, its own process group, this process's environment,
// standard output and standard error, and no other files. It ends when it reads the end of the socket or finds another
// parent (wait_for_parent()). On Windows everything here is kUnsupported.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace latebind::platform {

// Owns a file descriptor. One thread at a time.
class OwnedFile {
 public:
  explicit OwnedFile(int descriptor = -1) : descriptor_(descriptor) {}
  OwnedFile(OwnedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OwnedFile& operator=(OwnedFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OwnedFile();
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// Memory that two processes share. Its size is fixed, so that neither can take it away from the other; it disappears
// with its last owner.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept
      : file_(std::move(other.file_)), bytes_(std::exchange(other.bytes_, {})) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~SharedMemory();
  // kOutOfMemory, kBusy if no descriptor is left.
  [[nodiscard]] static core::Result<SharedMemory> create(std::size_t size);
  // Maps the memory behind a file that came with a message.
  [[nodiscard]] static core::Result<SharedMemory> map(OwnedFile file);
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  OwnedFile file_;
  std::span<std::byte> bytes_;
};

// Two connected sockets, which no program inherits.
[[nodiscard]] core::Result<std::pair<OwnedFile, OwnedFile>> connected_sockets();
// Sends a message, and a file unless that is -1. kIo when the other side is gone.
[[nodiscard]] core::Status send_message(int socket, std::string_view bytes, int file = -1);
// Waits for a message; `file`, if not null, takes the file that came with it. kIo when the other side is gone, or says
// that its message is longer than `size_max`.
[[nodiscard]] core::Result<std::string> receive_message(int socket, std::size_t size_max, OwnedFile* file = nullptr);
// Waits until there is something to receive, or for that many milliseconds (negative: for ever). Returns whether there
// is.
[[nodiscard]] bool wait_for_message(int socket, int milliseconds);
// For the child: returns when there is something to receive, or false when its parent is gone.
[[nodiscard]] bool wait_for_parent(int socket);

class KeptChild {
 public:
  // The errors of run_child().
  [[nodiscard]] static core::Result<std::unique_ptr<KeptChild>> start(const std::filesystem::path& program,
                                                                      const std::vector<std::string>& arguments);
  KeptChild(const KeptChild&) = delete;
  KeptChild& operator=(const KeptChild&) = delete;
  // Kills the child, if it still runs and belongs to this process and not to one from which it was forked.
  ~KeptChild();

  [[nodiscard]] int socket() const;
  // Kills the child's group and reaps the child. Returns how it ended: "crashed with signal 11". One thread at a time.
  [[nodiscard]] std::string end();

 private:
  struct Parts;
  explicit KeptChild(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace latebind::platform
