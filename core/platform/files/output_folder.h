// A folder that appears only when it is complete: filled beside its final place under a temporary name, then put there
// in one step.
//
// Without commit() (an error, an exception, a crash) the final place keeps what it had. What commit() guarantees:
//   - the place is absent or an empty folder: one rename, so that it is there whole or not at all;
//   - the place is a folder with content: it stays, unless the caller knows all its content and allows it (MayReplace).
//     Then, on Linux, the two are exchanged in one step, so that there is no moment without a whole folder, and the old
//     one is removed. Where the file system cannot exchange (and on Windows) the old one is first moved aside to a name
//     ending in ".old": a process killed between the two renames leaves it there, and nothing removes it.
//
// A folder that is replaced keeps its permissions (on Windows, those of the folder above).
//
// One thread at a time; several objects may aim at the same place at once, and the last commit wins whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::platform {

class OutputFolder {
 public:
  // Where create() would write, as resolved by the file system: a full path without links. For a link, the folder
  // behind it is meant, and the link stays. kInvalidArgument for an empty path, for a file, and for a place that cannot
  // be replaced: a root, and the current folder or a parent of it; kPermissionDenied for a link that another user may
  // have planted (link_target() in folder_trust.h); kIo.
  static core::Result<std::filesystem::path> place_of(const std::filesystem::path& folder);

  // Creates the temporary folder beside `folder`, whose parent must exist. kPermissionDenied, kNotFound, kDiskFull,
  // kIo, or the errors of place_of().
  static core::Result<OutputFolder> create(const std::filesystem::path& folder);

  OutputFolder(OutputFolder&& other) noexcept;
  OutputFolder& operator=(OutputFolder&& other) = delete;
  // Removes the temporary folder, if commit() did not happen.
  ~OutputFolder();

  // The folder to fill. Files in it are written by OutputFile, which waits for the disk.
  [[nodiscard]] const std::filesystem::path& path() const { return temporary_; }

  // Called for a folder with content after it was moved from its place, since others may have put something in until
  // then: ok when it may be removed with all its content. On any error it is moved back.
  using MayReplace = std::function<core::Status(const std::filesystem::path& old)>;

  // Puts the folder in its place. After an error the temporary folder is gone, and the place is as it was.
  // kInvalidArgument when the place is a folder with content and there is no `may_replace`; or the error of
  // `may_replace`.
  [[nodiscard]] core::Status commit(const MayReplace& may_replace = nullptr);

 private:
  OutputFolder() = default;
  [[nodiscard]] core::Status replace(const MayReplace& may_replace);
  void discard() noexcept;

  std::filesystem::path folder_;
  std::filesystem::path temporary_;  // empty: nothing to remove
  std::intptr_t handle_ = -1;        // shows others that the writer is alive
  MadeIn made_;                      // a child made by fork() leaves the temporary folder to its parent
};

// Removes the temporary folders that dead processes have left in `parent` a minute ago or earlier: those whose names
// follow Latebind's pattern. Ignores whatever cannot be removed.
void remove_abandoned_folders(const std::filesystem::path& parent) noexcept;

}  // namespace latebind::platform
