// Where the files of one model are in the hub's cache, which other tools fill and read as well:
//
//   <cache>/models--org--name/blobs/<etag>              contents, each once
//   <cache>/models--org--name/blobs/<etag>.incomplete   what is loading
//   <cache>/models--org--name/snapshots/<commit>/<file> a link to ../../blobs/<etag>; a copy where links fail
//   <cache>/models--org--name/refs/<revision>           the commit that a branch or tag stood for
//   <cache>/models--org--name/trees/<commit>.json       what all files of the commit are, when another tool has asked
//   <cache>/.locks/models--org--name/<etag>.lock        held by whoever loads that content
//
// Names that come from outside are checked before they come here (name.h). A value type; the functions may be called
// from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/hub/answers.h"

namespace latebind::embedding::hub {

class CacheLayout {
 public:
  CacheLayout(std::filesystem::path cache_folder, const std::string& id);

  // "org/name" of the folder's name "models--org--name"; nothing for another name.
  [[nodiscard]] static std::optional<std::string> id_of(std::string folder_name);

  [[nodiscard]] const std::filesystem::path& cache_folder() const { return cache_folder_; }
  [[nodiscard]] std::filesystem::path blob(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path partial(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path lock_file(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path snapshot(const std::string& commit) const;
  [[nodiscard]] std::filesystem::path file(const std::string& commit, const std::string& name) const;
  [[nodiscard]] std::filesystem::path tree(const std::string& commit) const;

  // The commit that `revision` referred to when it was last queried, or nothing.
  [[nodiscard]] std::optional<std::string> read_ref(const std::string& revision) const;
  [[nodiscard]] core::Status write_ref(const std::string& revision, const std::string& commit) const;

  // True when the snapshot has the complete file; a dangling link does not count.
  [[nodiscard]] bool has(const std::string& commit, const std::string& name) const;
  // What another tool has stored of all files of the commit; nothing where it has not, or in an unknown format.
  [[nodiscard]] std::optional<FileList> read_tree(const std::string& commit) const;
  // Names of all files in the snapshot, with '/'; no more than 10000.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& commit) const;

  // The folders of blobs and locks. kPermissionDenied says how to choose another cache.
  [[nodiscard]] core::Status make_folders() const;
  // Puts the blob into the snapshot under `name`, as a link, or as a copy when `links` is false or the system does not
  // allow links.
  [[nodiscard]] core::Status put(const std::string& commit, const std::string& name, const std::string& etag,
                                 bool links) const;

 private:
  std::filesystem::path cache_folder_;
  std::filesystem::path model_folder_;
  std::filesystem::path locks_folder_;
};

}  // namespace latebind::embedding::hub
