// PartialFile: a file that grows over several attempts, possibly of several processes one after the other, and gets its
// final name when it is complete. For downloads that may be interrupted. Everything that was written stays under the
// partial name until the file is finished, emptied or removed.
//
// Writes are not buffered, so a killed process leaves everything it wrote. One thread and one process at a time; hold a
// lock (file_lock.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

class PartialFile {
 public:
  // Opens `file` with its content, or creates it; its folder must exist. Rejects anything but a regular file.
  // kPermissionDenied, kNotFound, kDiskFull, kInvalidArgument or kIo.
  static core::Result<PartialFile> open(const std::filesystem::path& file);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&& other) noexcept;
  // Closes the file, which stays.
  ~PartialFile();

  // Appends bytes. On kDiskFull or kIo, the part that fitted is kept and counted by size().
  [[nodiscard]] core::Status write(std::string_view bytes);
  // Truncates the file to nothing.
  [[nodiscard]] core::Status clear() { return cut(0); }
  // Truncates the file to `size` bytes. The file must have at least that many.
  [[nodiscard]] core::Status cut(std::uint64_t size);
  // Overwrites bytes that were already written.
  [[nodiscard]] core::Status write_at(std::uint64_t offset, std::string_view bytes);
  // Waits until everything that was written is on the disk.
  [[nodiscard]] core::Status sync();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Flushes to the disk and renames to `target`, which is replaced if it exists. After success the object is used up;
  // after an error the file keeps its partial name.
  [[nodiscard]] core::Status finish(const std::filesystem::path& target);

 private:
  PartialFile() = default;
  void close() noexcept;

  std::filesystem::path file_;
  std::uint64_t size_ = 0;
  int handle_ = -1;
};

}  // namespace latebind::platform
