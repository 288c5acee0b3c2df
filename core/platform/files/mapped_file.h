// A file mapped read-only into memory. The bytes stay valid as long as the object lives, also when the file is removed
// or replaced by rename; only a file that another process truncates meanwhile crashes this one, so Latebind itself only
// ever replaces files by rename.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "core/platform/files/file_identity.h"
#include "core/result.h"

namespace latebind::platform {

// A part of a file: the place of something stored in a larger one.
struct FileRange {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class MappedFile {
 public:
  // kNotFound, kPermissionDenied or kIo with the path in the text; folders and devices are rejected (kInvalidArgument).
  // Empty files are fine.
  static core::Result<MappedFile> open(const std::filesystem::path& file);

  // `bytes`, zeros or what follows them in their file up to tail_offset(their size), then a copy of `tail`, as one
  // range: for vendors that want everything in one block. `bytes` are a mapping of `part` in the file of that identity,
  // and the file is mapped once more on Linux, when it still has its name and the part begins at a page's beginning.
  // Otherwise, on Windows, and where `part` names no file, they are copied. kIo, kOutOfMemory.
  static core::Result<MappedFile> with_tail(const FileRange& part, const FileIdentity& identity,
                                            std::span<const std::byte> bytes, std::span<const std::byte> tail);
  // The next multiple of 64 KiB, which is a multiple of every system's page size.
  [[nodiscard]] static constexpr std::size_t tail_offset(std::size_t file_size) {
    constexpr std::size_t kGranularity = std::size_t{64} << 10;
    return (file_size + kGranularity - 1) / kGranularity * kGranularity;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), data_ ? data_.get_deleter().size : 0}; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  // Of the file itself, when it was opened: another file may have its name now.
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
