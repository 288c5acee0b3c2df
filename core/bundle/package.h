// Package: an open bundle. A bundle is an ONNX Runtime model package (schema 1.0), as a folder or as one stored ZIP of
// it, with a portable model and any number of blobs. docs/bundle-format.md describes the layout.
//
// Opening reads the manifest and no payload. Files are returned as slices of mappings. They are compared with their
// records only on request: open_file() compares the size, open_verified_file() everything, and verify() everything in
// all files.
//
// A value with shared content. Immutable; may be used from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/bundle/manifest.h"
#include "core/bundle/package_files.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

struct PackageOptions {
  // Whether to open packages with the installed layout, which may refer to any file of this machine.
  InstalledLayout installed = InstalledLayout::kRefused;
};

// The result of verify().
struct PackageReport {
  std::size_t files = 0;  // read and compared with a checksum
  std::uint64_t bytes = 0;
  std::vector<std::string> unsummed;  // files without any record, whose damage cannot be detected
  // Files that have only a ZIP's CRC-32, which shows damage but not deliberate changes.
  std::vector<std::string> crc_only;
  std::vector<Status> damages;  // kInvalidModel, kNotFound or kIo; at most kDamagesMax

  static constexpr std::size_t kDamagesMax = 100;
  [[nodiscard]] bool ok() const { return damages.empty(); }
};

class Package {
 public:
  // Opens a package. kNotFound, kPermissionDenied, kIo; kInvalidModel, with file and place, for a package that does not
  // follow the format, and for a variant with a `latebind` slot whose files are missing or have another size.
  static Result<Package> open(const std::filesystem::path& place, const PackageOptions& options = {});
  static Result<Package> from_files(PackageFiles files, const PackageOptions& options = {});

  [[nodiscard]] const Manifest& manifest() const;
  [[nodiscard]] const PackageFiles& files() const;
  // The folders of the shared assets by their URI, both those that the manifest lists and those in their usual place.
  [[nodiscard]] const std::map<std::string, std::string>& assets() const;

  // Return null if nothing has that name.
  [[nodiscard]] const Component* find_component(std::string_view name) const;
  [[nodiscard]] static const Variant* find_variant(const Component& component, std::string_view name);

  // Returns the path in the package for a variant's reference: a file of its folder, or "sha256:<hex>[/file]". "." is
  // the folder itself. kInvalidModel for a path that leads out of the package or a missing asset.
  [[nodiscard]] Result<std::string> resolve(const Variant& variant, std::string_view reference) const;

  // Returns the file's bytes after comparing their size with the record: a slice of a mapping, or separate memory if
  // only a difference is stored. Errors: kNotFound, kInvalidModel.
  [[nodiscard]] Result<SharedBytes> open_file(const Variant& variant, std::string_view reference) const;
  // Like open_file(), after reading all of the file and comparing its SHA-256 with the record (for a file of a shared
  // asset, that of the whole asset). kInvalidModel when they differ, kUnsupported when none is recorded.
  [[nodiscard]] Result<SharedBytes> open_verified_file(const Variant& variant, std::string_view reference) const;

  // Makes the same comparison as open_verified_file(), but returns no bytes.
  [[nodiscard]] Status prove_file(const Variant& variant, std::string_view reference) const;
  // Returns what prove_file() compares with: the recorded SHA-256 or, for a file of a shared asset, the reference
  // itself, because the asset's name identifies its content. std::nullopt when none is recorded.
  [[nodiscard]] std::optional<std::string> recorded_sum(const Variant& variant, std::string_view reference) const;
  // Returns the file's bytes and where they are. Fails as open_file() does, and for a file that is stored as a
  // difference.
  [[nodiscard]] Result<FilePart> open_part(const Variant& variant, std::string_view reference) const;

  // Like open_verified_file(), but with the fastest checksum available (a ZIP's CRC-32), which detects damage but not
  // forgery. A file without any record is accepted as it is.
  [[nodiscard]] Result<SharedBytes> open_checked_file(const Variant& variant, std::string_view reference) const;

  // Makes the same check for all files of the shared asset that `reference` names.
  [[nodiscard]] Status check_asset(const Variant& variant, std::string_view reference) const;

  // Reads every file and compares it with its record. Fails only when the files cannot be listed.
  [[nodiscard]] Result<PackageReport> verify() const;

 private:
  struct State;
  explicit Package(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  [[nodiscard]] Status check_recorded(const Variant& variant) const;
  [[nodiscard]] Status check_difference(const Variant& variant) const;
  // Makes the variant's model from the difference and its source.
  [[nodiscard]] Result<SharedBytes> make_whole(const Variant& variant) const;
  // Like make_whole(), after checking the files that it is made from.
  [[nodiscard]] Result<SharedBytes> make_checked_whole(const Variant& variant) const;

  std::shared_ptr<const State> state_;
};

}  // namespace latebind::core
