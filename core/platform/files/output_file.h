// OutputFile: a file that appears only when it is complete. It is written beside its final place under a temporary name
// and then renamed.
//
// Without commit() (after an error, an exception or a crash) the final place keeps what it had. A new file gets the
// permissions of the umask, and a replaced file keeps its own (on Windows, the file gets those of its folder). If the
// place is a link, the file that it leads to is replaced. Anything but a regular file (a pipe, a terminal, /dev/null,
// whatever /dev/stdout is connected to) is written directly, because it cannot be replaced by renaming; its bytes are
// written as soon as the buffer is full.
//
// One thread at a time. Several objects may write the same place at once; the last commit wins as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::platform {

class OutputFile {
 public:
  // Creates the temporary file in the folder of `file`, which must exist. kPermissionDenied (also when the file that
  // would be replaced is read-only, and for a link that another user may have planted: link_target() in
  // folder_trust.h), kNotFound, kDiskFull, kInvalidArgument (an empty path, a folder) or kIo.
  static core::Result<OutputFile> create(const std::filesystem::path& file);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  // Removes the temporary file if it was not committed.
  ~OutputFile();

  // Appends bytes, buffered. Errors: kDiskFull or kIo; after an error the file can only be discarded.
  [[nodiscard]] core::Status write(std::span<const std::byte> bytes);
  [[nodiscard]] core::Status write(std::string_view text);
  // Overwrites bytes that were already written (a header whose values are known last). kInvalidArgument beyond size();
  // kUnsupported if the file is not rewritable and the bytes have left the buffer.
  [[nodiscard]] core::Status write_at(std::size_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t size() const { return size_; }
  // False for files that are written directly.
  [[nodiscard]] bool is_rewritable() const { return !temporary_.empty(); }

  // Flushes to the disk and renames over the final place. After an error the temporary file is gone, too.
  [[nodiscard]] core::Status commit();
  // Like commit(), without waiting for the disk. For files that can be regenerated and are checked when they are read:
  // after a crash of the machine the file may be torn.
  [[nodiscard]] core::Status commit_unsynced();

 private:
  OutputFile() = default;
  [[nodiscard]] core::Status flush();
  [[nodiscard]] core::Status finish(bool to_disk);
  void discard() noexcept;

  std::filesystem::path file_;
  std::filesystem::path temporary_;
  std::string buffer_;
  std::size_t size_ = 0;
  int handle_ = -1;
  MadeIn made_;           // a child made by fork() leaves the temporary file to its parent
  core::Status failure_;  // the first error, which every later call repeats
};

// Returns false on systems where a file that any process has mapped cannot be replaced: Windows.
[[nodiscard]] bool can_replace_mapped_files();

// Removes the temporary files and lock files (output_lock.h) that dead processes have left in `folder` and that are at
// least a minute old; returns the bytes that this freed. Ignores files that cannot be removed.
std::uint64_t remove_abandoned_outputs(const std::filesystem::path& folder) noexcept;

// Writes a file of these bytes, with commit_unsynced(). Fails as OutputFile does.
[[nodiscard]] core::Status write_file_unsynced(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace latebind::platform
