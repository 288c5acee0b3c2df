// CacheLayout: the places of one model's files in the hub's cache, which other tools fill and read as well:
//
//   <cache>/models--org--name/blobs/<etag>              contents, each once
//   <cache>/models--org--name/blobs/<etag>.incomplete   a content that is being downloaded
//   <cache>/models--org--name/snapshots/<commit>/<file> a link to ../../blobs/<etag>; a copy where links fail
//   <cache>/models--org--name/refs/<revision>           the commit to which a branch or tag referred
//   <cache>/models--org--name/trees/<commit>.json       all files of the commit, if another tool has asked for them
//   <cache>/.locks/models--org--name/<etag>.lock        held while that content is being downloaded
//
// Names from outside are checked before they are passed to this class (name.h). A value type; any thread.
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

  // The model of a folder: "org/name" for "models--org--name"; std::nullopt for other names.
  [[nodiscard]] static std::optional<std::string> id_of(std::string folder_name);

  [[nodiscard]] const std::filesystem::path& cache_folder() const { return cache_folder_; }
  [[nodiscard]] std::filesystem::path blob(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path partial(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path lock_file(const std::string& etag) const;
  [[nodiscard]] std::filesystem::path snapshot(const std::string& commit) const;
  [[nodiscard]] std::filesystem::path file(const std::string& commit, const std::string& name) const;
  [[nodiscard]] std::filesystem::path tree(const std::string& commit) const;

  // The commit to which `revision` referred when it was last queried; std::nullopt if unknown.
  [[nodiscard]] std::optional<std::string> read_ref(const std::string& revision) const;
  [[nodiscard]] core::Status write_ref(const std::string& revision, const std::string& commit) const;

  // Whether the snapshot has the complete file; a dangling link does not count.
  [[nodiscard]] bool has(const std::string& commit, const std::string& name) const;
  // The list of the commit's files that another tool has stored; std::nullopt if it is absent, or in an unknown
  // format.
  [[nodiscard]] std::optional<FileList> read_tree(const std::string& commit) const;
  // Names of all files in the snapshot, with '/'; at most 10000.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& commit) const;

  // Creates the folders of blobs and locks. kPermissionDenied says how to choose another cache.
  [[nodiscard]] core::Status make_folders() const;
  // Adds the blob to the snapshot under `name`: as a link, or as a copy if `links` is false or the system does not
  // allow links.
  [[nodiscard]] core::Status put(const std::string& commit, const std::string& name, const std::string& etag,
                                 bool links) const;

 private:
  std::filesystem::path cache_folder_;
  std::filesystem::path model_folder_;
  std::filesystem::path locks_folder_;
};

}  // namespace latebind::embedding::hub
