// A private folder in the system's place for temporary files: nobody else can look in, and it is gone, with all that is
// in it, when the object goes. For vendors that can only write to a path. One thread at a time.
//
// What a process that was killed has left is removed by the next one that makes such a folder: only what is this user's
// alone, lies in the same place, has our mark in it and has nobody who holds that, or is empty, for a minute or longer.
// A child of this process, made by fork(), removes nothing.
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

  // Removes it now, if the system lets us: files that are still mapped stay valid where it does. What is left is
  // removed with the object.
  void remove() noexcept;

 private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;  // empty: nothing to remove
  std::optional<FileLock> mark_;
  MadeIn made_;
};

}  // namespace latebind::platform
