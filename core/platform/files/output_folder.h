// OutputFolder: a folder that appears only when it is complete. It is filled beside its final place under a temporary
// name, then put there in one step.
//
// Without commit() (after an error, an exception or a crash) the final place keeps what it had. commit() guarantees:
//   - If the place is absent or an empty folder, one rename puts the new folder there, as a whole or not at all.
//   - If the place is a folder with content, that folder stays, unless the caller knows all its content and allows its
//     replacement (MayReplace). Then, on Linux, the two folders are exchanged in one step, so that there is always a
//     whole folder, and the old one is removed. If the file system cannot exchange them (and on Windows), the old
//     folder is first moved aside to a name ending in ".old": a process killed between the two renames leaves it there,
//     and nothing removes it.
//
// A folder that replaces another one gets its permissions (on Windows, those of the folder above).
//
// One thread at a time. Several objects may write the same place at once; the last commit wins as a whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::platform {

class OutputFolder {
 public:
  // Returns where create() would write, as resolved by the file system: a full path without links. A link stays, and
  // the result is the folder that it leads to. kInvalidArgument for an empty path, for a file, and for a place that
  // cannot be replaced: a root, and the current folder or a parent of it. kPermissionDenied for a link that another
  // user may have planted (link_target() in folder_trust.h). Otherwise kIo.
  static core::Result<std::filesystem::path> place_of(const std::filesystem::path& folder);

  // Creates the temporary folder beside `folder`, whose parent must exist. kPermissionDenied, kNotFound, kDiskFull,
  // kIo, or an error of place_of().
  static core::Result<OutputFolder> create(const std::filesystem::path& folder);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&& other) = delete;
  // Removes the temporary folder if it was not committed.
  ~OutputFolder();

  // The folder to fill. Write files in it with OutputFile, which waits for the disk.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  // Decides whether a folder with content may be removed with all its content. It is called after the folder was moved
  // from its place, because until then others may have added files. On an error the folder is moved back.
  using MayReplace = std::function<core::Status(const std::filesystem::path& old)>;

  // Puts the folder in its place. kInvalidArgument when the place is a folder with content and `may_replace` is empty;
  // the error of `may_replace` when it refuses. After an error the temporary folder is gone, and the place is as it
  // was.
  [[nodiscard]] core::Status commit(const MayReplace& may_replace = nullptr);

 private:
  OutputFolder() = default;
  [[nodiscard]] core::Status replace(const MayReplace& may_replace);
  void discard() noexcept;

  std::filesystem::path folder_;
  std::filesystem::path temporary_;  // empty when there is nothing to remove
  std::intptr_t handle_ = -1;        // shows other processes that the writer is alive
  MadeIn made_;                      // a child made by fork() leaves the temporary folder to its parent
};

// Removes the temporary folders that dead processes have left in `parent`, whose names follow Latebind's pattern and
// that are at least a minute old. Ignores folders that cannot be removed.
void remove_abandoned_folders(const std::filesystem::path& parent) noexcept;

}  // namespace latebind::platform
