// A file that appears only when it is complete: written beside its final place under a temporary name, then renamed.
//
// Without commit() (an error, an exception, a crash) the final place keeps what it had. One thread at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::platform {

class OutputFile {
 public:
  // Makes the temporary file in the folder of `file`, which must exist. kPermissionDenied, kNotFound or kIo.
  static core::Result<OutputFile> create(const std::filesystem::path& file);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  // Removes the temporary file, if commit() did not happen.
  ~OutputFile();

  // kDiskFull or kIo; after an error the file can only be dropped. Buffered.
  [[nodiscard]] core::Status write(std::span<const std::byte> bytes);
  [[nodiscard]] core::Status write(std::string_view text);
  // Overwrites bytes that were already written (a header whose figures are known last).
  [[nodiscard]] core::Status write_at(std::size_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t size() const { return size_; }

  // Flushes to the disk and renames over the final place.
  [[nodiscard]] core::Status commit();

 private:
  OutputFile() = default;
  [[nodiscard]] core::Status flush();
  void discard() noexcept;

  std::filesystem::path file_;
  std::filesystem::path temporary_;
  std::string buffer_;
  std::size_t size_ = 0;
  int handle_ = -1;
};

}  // namespace latebind::platform
