// A file that appears only when it is complete: written beside its final place under a temporary name, then renamed.
//
// Without commit() (an error, an exception, a crash) the final place keeps what it had. A new file gets the permissions
// of the umask and a replaced one keeps its own (on Windows, those of its folder); where the place is a link, the file
// behind it is replaced. Anything but a regular file (a pipe, a terminal, /dev/null, /dev/stdout whatever that is
// connected to) is written directly, since nothing can be renamed over it: there the bytes are out as soon as the
// buffer is full.
//
// One thread at a time; several objects may write the same place at once, and the last commit wins whole.
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
  // Removes the temporary file, if commit() did not happen.
  ~OutputFile();

  // kDiskFull or kIo; after an error the file can only be discarded. Buffered.
  [[nodiscard]] core::Status write(std::span<const std::byte> bytes);
  [[nodiscard]] core::Status write(std::string_view text);
  // Overwrites bytes that were already written (a header whose values are known last). kInvalidArgument beyond size(),
  // kUnsupported for bytes that have left the buffer of a file that is not rewritable.
  [[nodiscard]] core::Status write_at(std::size_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t size() const { return size_; }
  // False for what is written directly.
  [[nodiscard]] bool is_rewritable() const { return !temporary_.empty(); }

  // Flushes to the disk and renames over the final place. After an error the temporary file is gone, too.
  [[nodiscard]] core::Status commit();
  // As commit(), without waiting for the disk: for what can be regenerated and is checked when it is read. After a
  // crash of the machine the file may be torn.
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
  core::Status failure_;  // the first one, which every later call repeats
};

// False where a file that is mapped, by this process or another, cannot be replaced: Windows.
[[nodiscard]] bool can_replace_mapped_files();

// Removes the temporary files, and the files of locks (output_lock.h), that dead processes have left in `folder` a
// minute ago or earlier; returns the bytes that this freed. Ignores whatever cannot be removed.
std::uint64_t remove_abandoned_outputs(const std::filesystem::path& folder) noexcept;

// A file of these bytes, with commit_unsynced(). The errors of OutputFile.
[[nodiscard]] core::Status write_file_unsynced(const std::filesystem::path& file, std::span<const std::byte> bytes);

}  // namespace latebind::platform
