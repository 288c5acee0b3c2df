// A file mapped read-only into memory. The bytes stay valid as long as the object lives, also when the file is removed
// or replaced by rename; a file that another process truncates meanwhile is the one thing that can not be survived, so
// Latebind itself only ever replaces files by rename.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "core/result.h"

namespace latebind::platform {

class MappedFile {
 public:
  // kNotFound, kPermissionDenied or kIo with the path in the text; folders and devices are refused (kInvalidArgument).
  // Empty files are fine.
  static core::Result<MappedFile> open(const std::filesystem::path& file);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Tells the system that the pages are not needed now; they come back from the file when touched.
  void release_pages() const;

 private:
  MappedFile() = default;

  std::filesystem::path file_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace latebind::platform
