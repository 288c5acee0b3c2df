// MappedFile: a file mapped read-only into memory. The bytes stay valid as long as the object lives, even when the file
// is removed or replaced by rename. If another process truncates the file, however, an access crashes this process;
// Latebind itself therefore replaces files only by rename. Immutable after it was opened; may be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::platform {

// A part of a file: the place of something that is stored in a larger file.
struct FileRange {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class MappedFile {
 public:
  // Maps a file, which may be empty. kNotFound, kPermissionDenied or kIo with the path in the text; kInvalidArgument
  // for folders and devices.
  static core::Result<MappedFile> open(const std::filesystem::path& file);

  // Returns one range with `bytes`, then zeros (or what follows them in their file) up to tail_offset(their size), then
  // a copy of `tail`, for vendors that want everything in one block. `bytes` are a mapping of `part` in the file of
  // that identity. On Linux the file is mapped once more if it still has its name and the part begins at a page
  // boundary. Otherwise, on Windows, and if `part` names no file, the bytes are copied. Errors: kIo, kOutOfMemory.
  static core::Result<MappedFile> with_tail(const FileRange& part, const FileIdentity& identity,
                                            std::span<const std::byte> bytes, std::span<const std::byte> tail);
  // Returns the next multiple of 64 KiB, which is a multiple of every system's page size.
  [[nodiscard]] static constexpr std::size_t tail_offset(std::size_t file_size) {
    constexpr std::size_t kGranularity = std::size_t{64} << 10;
    return (file_size + kGranularity - 1) / kGranularity * kGranularity;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), data_ ? data_.get_deleter().size : 0}; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // The identity of the file when it was opened; another file may have its name now.
  [[nodiscard]] const FileIdentity& identity() const { return identity_; }

 private:
  struct Unmap {
    std::size_t size;
    void operator()(const std::byte* data) const noexcept;
  };

  MappedFile() = default;

  std::filesystem::path file_;
  FileIdentity identity_;
  std::unique_ptr<const std::byte, Unmap> data_;
};

}  // namespace latebind::platform
