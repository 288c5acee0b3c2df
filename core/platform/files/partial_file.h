// A file that grows over several attempts, perhaps of several processes one after the other, and gets its final name
// when it is whole: what a download that may break off is written to. Whatever was written stays under the partial name
// until it is finished, emptied or removed.
//
// Not buffered: a process that is killed leaves all that was written. One thread and one process at a time; hold a lock
// (file_lock.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

class PartialFile {
 public:
  // Opens `file`, or makes it, with what it holds; its folder must exist. Refuses what is no regular file.
  // kPermissionDenied, kNotFound, kDiskFull, kInvalidArgument or kIo.
  static core::Result<PartialFile> open(const std::filesystem::path& file);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&& other) noexcept;
  // Closes; the file stays.
  ~PartialFile();

  // Appends. kDiskFull or kIo; what fitted is kept and counted by size().
  [[nodiscard]] core::Status write(std::string_view bytes);
  // Forgets what is there.
  [[nodiscard]] core::Status clear();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Flushes to the disk and renames to `target`, which is replaced if it is there. After that the object is used up;
  // after an error the file has its partial name.
  [[nodiscard]] core::Status finish(const std::filesystem::path& target);

 private:
  PartialFile() = default;
  void close() noexcept;

  std::filesystem::path file_;
  std::uint64_t size_ = 0;
  int handle_ = -1;
};

}  // namespace latebind::platform
