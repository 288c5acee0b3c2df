// PackageWriter: makes a bundle from models, blobs and the files that belong to them.
//
//   PackageWriter writer({.name = "minilm", .version = "1"});
//   LB_ASSIGN_OR_RETURN(const std::string tokenizer, writer.add_asset({{"tokenizer.json", bytes}}));
//   LB_RETURN_IF_ERROR(writer.add_variant(
//       "model", {.name = "portable", .latebind = {…}, .files = {{"model.onnx", …}}}));
//   LB_RETURN_IF_ERROR(writer.write("minilm.lbundle", PackageForm::kZip));
//
// The writer computes the checksums, sizes, folders and the manifest. It does not copy the bytes, and keeps the owners
// of the SharedBytes alive until it is destroyed. The same input gives the same bytes, in whatever order it was added.
// In a ZIP, what blobs have in common is stored once (share_blobs.h); a folder has all files whole.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/manifest.h"
#include "core/bundle/package.h"
#include "core/bundle/zip_writer.h"
#include "core/config.h"
#include "core/json/value.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

enum class PackageForm : std::int32_t { kZip = 0, kFolder = 1 };
template <>
struct Words<PackageForm> {
  static constexpr std::string_view kWhat = "form of a bundle";
  static constexpr std::array kWords{Word<PackageForm>{"bundle", PackageForm::kZip},
                                     Word<PackageForm>{"folder", PackageForm::kFolder}};
};

struct PackageFile {
  std::string path{};  // relative to the folder it goes to
  SharedBytes bytes{};
};

struct PackageHead {
  std::string name{};
  std::string version{};
  std::string description{};
  Json additional_metadata{};  // source, revision, licence …; null if absent
};

struct VariantInput {
  std::string name{};  // also names the folder: see folder_name_of()
  std::string ep{};
  std::string device{};
  std::string compatibility_string{};
  // The writer fills in its `files`. Without it the package has neither information for Latebind nor digests.
  std::optional<LatebindInfo> latebind{};
  std::map<std::string, Json> executor_info{};  // the other consumers' slots, each an object
  Json additional_metadata{};
  std::vector<PackageFile> files{};  // may be empty, when everything it needs is in assets
};

class PackageWriter {
 public:
  explicit PackageWriter(PackageHead head) : head_(std::move(head)) {}

  // Adds a shared asset of at least one file and computes its digest; equal content is one asset. Returns its
  // "sha256:<hex>". kInvalidArgument for paths that path_rules.h rejects.
  Result<std::string> add_asset(const std::vector<PackageFile>& files);

  // Adds a variant. kInvalidArgument for a name that exists already or cannot be a folder's name, for paths that
  // path_rules.h rejects, for a `latebind` that could not be read back, and for assets that were not added before.
  Status add_variant(const std::string& component, VariantInput variant);

  // Adds everything in `package` except the variants of `component` named in `without`, after comparing every file with
  // its record. The bytes stay in the package's mapped files. kInvalidModel for damage, kUnsupported for a package that
  // refers to files outside of it, and the errors of add_variant().
  Status add_package(const Package& package, std::string_view component, const std::set<std::string>& without);

  // Records what the portable model of this component could not be compiled for, replacing the records of the variants
  // in `again`. Does nothing if that model has no Latebind slot. kInvalidArgument for records that could not be read
  // back.
  Status set_refused(const std::string& component, const std::vector<RefusedTarget>& refused,
                     const std::set<std::string>& again);

  // Decides whether what is at the place may be replaced. It is called when the new bundle is complete. `old` is the
  // place, or where the old folder was moved to by then.
  using MayReplace = std::function<Status(const std::filesystem::path& old)>;

  // Writes the bundle. A ZIP is written to a temporary file and renamed: a process killed at any moment leaves the old
  // file or the new one. A folder is written as OutputFolder describes; one with content is replaced only if all of it
  // is a package that Latebind wrote (otherwise kInvalidArgument, see own_folder.h). Also removes what killed writers
  // left. Errors: kDiskFull, kPermissionDenied, that of `may_replace` …; no partial output remains.
  [[nodiscard]] Status write(const std::filesystem::path& place, PackageForm form,
                             const MayReplace& may_replace = nullptr) const;

  // Returns the same ZIP, for writing it into another file.
  [[nodiscard]] Result<ZipImage> zip() const;

 private:
  struct Content {
    std::map<std::string, std::vector<PackageFile>> assets{};                 // by uri
    std::map<std::string, std::map<std::string, VariantInput>> components{};  // by name
  };

  [[nodiscard]] Result<std::map<std::string, SharedBytes>> lay_out(const Content& content,
                                                                   std::vector<std::string>& empty_folders) const;
  [[nodiscard]] Result<std::vector<ZipInput>> zip_entries() const;
  [[nodiscard]] Manifest make_manifest(const Content& content) const;

  PackageHead head_;
  Content content_;
  std::map<std::string, Json> component_metadata_;
};

// Writes files (from path in the package to bytes) as a folder, with the guarantees of PackageWriter::write(). A folder
// with content is refused without `may_replace`. `empty_folders` are created as well.
[[nodiscard]] Status write_package_folder(const std::filesystem::path& place,
                                          const std::map<std::string, SharedBytes>& files,
                                          const std::vector<std::string>& empty_folders = {},
                                          const PackageWriter::MayReplace& may_replace = nullptr);

// Unpacks a ZIP into a folder, which must be absent or empty (kInvalidArgument). Files stored as differences are
// written whole.
[[nodiscard]] Status unpack_package(const Package& package, const std::filesystem::path& folder);

}  // namespace latebind::core
