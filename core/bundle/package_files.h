// PackageFiles: the files of a bundle, whether it is a folder or a ZIP.
//
// Files of a ZIP are slices of one mapping of it. Files of a folder are mapped when they are read, and while a mapping
// is in use every reader gets the same one, even if the name then leads to another file. Either way nothing is copied,
// and processes that read the same bundle share its pages. In a folder, links are followed if they stay in it; this
// does not protect against somebody who changes the folder while it is being read.
//
// A value with shared content; may be used from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"

namespace latebind::core {

class PackageFiles {
 public:
  enum class Outside { kRefused, kAllowed };

  struct File {
    std::string path;
    std::uint64_t size = 0;
    std::uint32_t crc32 = 0;  // as the ZIP records it; 0 in a folder
  };

  // Opens a folder or a ZIP without reading its files. With Outside::kAllowed, absolute paths are read as well (only in
  // a folder: a package with the installed layout). Fails as MappedFile::open() does; kInvalidModel for anything else.
  static Result<PackageFiles> open(const std::filesystem::path& place, Outside outside = Outside::kRefused);
  // Opens a ZIP in memory; `name` is for messages.
  static Result<PackageFiles> from_zip(SharedBytes bytes, const std::string& name);

  [[nodiscard]] bool is_zip() const;
  // The bundle's name, for messages.
  [[nodiscard]] const std::string& name() const;

  // Returns all files, sorted by path. A folder is walked at each call. kInvalidModel for what a bundle may not
  // contain: links to folders or out of it, devices, names that path_rules.h rejects, too many files.
  [[nodiscard]] Result<std::vector<File>> list() const;

  // Returns folders, including at least those without files.
  [[nodiscard]] Result<std::vector<std::string>> list_folders() const;

  // Returns the file's bytes. kNotFound when there is no such file, kInvalidModel for a path that leads out of the
  // package.
  [[nodiscard]] Result<SharedBytes> read(std::string_view relative) const;
  // Like read(), with the place of the bytes, for code that needs its own mapping or remembers something about them.
  [[nodiscard]] Result<FilePart> part(std::string_view relative) const;
  [[nodiscard]] bool has_file(std::string_view relative) const;
  // Whether there is such a folder; "" is the root.
  [[nodiscard]] bool has_folder(std::string_view relative) const;
  // Returns the file of the ZIP; empty for a folder, or for a ZIP in memory.
  [[nodiscard]] std::vector<SourceFile> source() const;

  // Reads the file and compares it with the ZIP's checksum; a folder has none. kInvalidModel when they differ.
  [[nodiscard]] Status check(std::string_view relative) const;

 private:
  struct State;
  explicit PackageFiles(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

// Returns the part of a list that is below `folder` ("" for all). The list is sorted, as list() returns it; the result
// refers to it.
[[nodiscard]] std::span<const PackageFiles::File> files_below(std::span<const PackageFiles::File> all,
                                                              std::string_view folder);

}  // namespace latebind::core
