// PackageFiles: the files of a bundle, whether it is a folder or a ZIP.
//
// Files of a ZIP are slices of one mapping of it; those of a folder are mapped when they are read, and as long as a
// mapping is in use everybody gets the same one, whatever file has the name by then. Either way nothing is copied, and
// processes that read the same bundle share its pages. In a folder, links are followed as long as they stay in it;
// anyone who may change the folder while it is being read can get around that; nothing here prevents it. A value with
// shared content; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"

namespace latebind::core {

class PackageFiles {
 public:
  enum class Outside { kRefused, kAllowed };

  struct File {
    std::string path;
    std::uint64_t size = 0;
    std::uint32_t crc32 = 0;  // of a ZIP's file, as the ZIP says; 0 in a folder
  };

  // Opens a folder or a ZIP; reads no file of it. With Outside::kAllowed, absolute paths are read as well (a folder
  // only: a package with the installed layout). The errors of MappedFile::open; kInvalidModel for what is neither.
  static Result<PackageFiles> open(const std::filesystem::path& place, Outside outside = Outside::kRefused);
  // A ZIP in memory; `name` is for messages.
  static Result<PackageFiles> from_zip(SharedBytes bytes, const std::string& name);

  [[nodiscard]] bool is_zip() const;
  // For messages.
  [[nodiscard]] const std::string& name() const;

  // All files, sorted by path. A folder is walked at each call. kInvalidModel for what a bundle may not contain: links
  // out of it or to folders, devices, names that path_rules.h rejects, too many files.
  [[nodiscard]] Result<std::vector<File>> list() const;

  // Folders, at least those without files.
  [[nodiscard]] Result<std::vector<std::string>> list_folders() const;

  // kNotFound when there is no such file, kInvalidModel for a path that leads out.
  [[nodiscard]] Result<SharedBytes> read(std::string_view relative) const;
  // The same, and where the bytes are, for code that needs its own mapping or remembers something about them.
  [[nodiscard]] Result<FilePart> part(std::string_view relative) const;
  [[nodiscard]] bool has_file(std::string_view relative) const;
  // "" is the root.
  [[nodiscard]] bool has_folder(std::string_view relative) const;
  // The ZIP, as the file that it is; none for a folder, or in memory.
  [[nodiscard]] std::vector<SourceFile> source() const;

  // Reads the file and compares it with the sum that a ZIP has for it; a folder has none. kInvalidModel.
  [[nodiscard]] Status check(std::string_view relative) const;

 private:
  struct State;
  explicit PackageFiles(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

// Those of a list that are below `folder` ("": all). The list is sorted, as list() returns it; the result refers to it.
[[nodiscard]] std::span<const PackageFiles::File> files_below(std::span<const PackageFiles::File> all,
                                                              std::string_view folder);

}  // namespace latebind::core
