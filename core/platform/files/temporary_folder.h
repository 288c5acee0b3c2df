// A private folder in the system's place for temporary files: nobody else can look in, and it is removed with its
// content when the object is destroyed. For vendors that can only write to a path. One thread at a time.
//
// What a killed process has left is removed by the next one that creates such a folder: only folders in the same place
// that are private to this user, and that for a minute or longer have had Latebind's mark in them, held by nobody, or
// have been empty. A child of this process, made by fork(), removes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/platform/files/file_lock.h"
#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::platform {

class TemporaryFolder {
 public:
  // `purpose` becomes part of the name, latebind-PURPOSE-…: a plain word. kPermissionDenied, kDiskFull or kIo, with the
  // place in the text.
  static core::Result<TemporaryFolder> create(std::string_view purpose);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Removes it now, if the system allows it: files that are still mapped stay valid in that case. What is left is
  // removed with the object.
  void remove() noexcept;

 private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;  // empty: nothing to remove
  std::optional<FileLock> mark_;
  MadeIn made_;
};

}  // namespace latebind::platform
