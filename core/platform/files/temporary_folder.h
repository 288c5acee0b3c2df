// TemporaryFolder: a private folder in the system's place for temporary files. Nobody else can look into it, and it is
// removed with its content when the object is destroyed. For vendors that can only write to a path. One thread at a
// time.
//
// Creating one also removes what killed processes have left in the same place: folders that are private to this user
// and that, for a minute or longer, have been empty or have had Latebind's mark in them without a holder. A child of
// this process, made by fork(), removes nothing.
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
  // `purpose`, a plain word, becomes part of the name latebind-PURPOSE-…. kPermissionDenied, kDiskFull or kIo, with the
  // place in the text.
  static core::Result<TemporaryFolder> create(std::string_view purpose);

  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Removes the folder now, if the system allows it; files that are still mapped then stay valid. What is left is
  // removed with the object.
  void remove() noexcept;

 private:
  explicit TemporaryFolder(std::filesystem::path path);

  std::filesystem::path path_;  // empty when there is nothing to remove
  std::optional<FileLock> mark_;
  MadeIn made_;
};

}  // namespace latebind::platform
