// Package: a bundle that was opened. A bundle is an ONNX Runtime model package (schema 1.0), as a folder or as one
// stored ZIP of it, with a portable model and any number of blobs; docs/bundle-format.md says what is where.
//
// Opening reads the manifest and no payload. Files are returned as slices of mappings; each is checked against what was
// recorded of it only on request: open_file() compares the size, open_verified_file() everything, verify() does so for
// all files.
//
// A value with shared content. Immutable; any thread.
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
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

struct PackageOptions {
  // Packages with the installed layout, which may refer to any file of this machine.
  InstalledLayout installed = InstalledLayout::kRefused;
};

// What verify() did.
struct PackageReport {
  std::size_t files = 0;  // read and compared with a sum
  std::uint64_t bytes = 0;
  std::vector<std::string> unsummed;  // files of which nothing is recorded; their damage cannot be detected
  // Of these there is only the CRC-32 that a ZIP has of everything: it shows damage, but not deliberate changes.
  std::vector<std::string> crc_only;
  std::vector<Status> damages;  // kInvalidModel, kNotFound or kIo; at most kDamagesMax

  static constexpr std::size_t kDamagesMax = 100;
  [[nodiscard]] bool ok() const { return damages.empty(); }
};

class Package {
 public:
  // kNotFound, kPermissionDenied, kIo; kInvalidModel with file and place for what does not follow the format; for a
  // variant with a `latebind` slot also for files that are missing or have another size.
  static Result<Package> open(const std::filesystem::path& place, const PackageOptions& options = {});
  static Result<Package> from_files(PackageFiles files, const PackageOptions& options = {});

  [[nodiscard]] const Manifest& manifest() const;
  [[nodiscard]] const PackageFiles& files() const;
  // Folders of the shared assets by their URI, whether the manifest lists them or they are in their usual place.
  [[nodiscard]] const std::map<std::string, std::string>& assets() const;

  // Null when there is none of that name.
  [[nodiscard]] const Component* find_component(std::string_view name) const;
  [[nodiscard]] static const Variant* find_variant(const Component& component, std::string_view name);

  // The path in the package of what a variant refers to: a file of its folder, or "sha256:<hex>[/file]". "." is the
  // folder itself. kInvalidModel for a path that leads out or a missing asset.
  [[nodiscard]] Result<std::string> resolve(const Variant& variant, std::string_view reference) const;

  // The file's bytes, of the size that was recorded: a slice of a mapping, or in memory of their own where only a
  // difference is stored. kNotFound, kInvalidModel.
  [[nodiscard]] Result<SharedBytes> open_file(const Variant& variant, std::string_view reference) const;
  // The same, after reading all of it and comparing its SHA-256 with the one recorded (for a file of a shared asset:
  // that of the whole asset). kInvalidModel when they differ, kUnsupported when none is recorded.
  [[nodiscard]] Result<SharedBytes> open_verified_file(const Variant& variant, std::string_view reference) const;

  // Also reads and compares all of it, but returns no bytes. The errors of open_verified_file().
  [[nodiscard]] Status prove_file(const Variant& variant, std::string_view reference) const;
  // What prove_file() compares with: the recorded SHA-256, or the reference itself for a file of a shared asset, whose
  // name stands for its content. Nothing when none is recorded.
  [[nodiscard]] std::optional<std::string> recorded_sum(const Variant& variant, std::string_view reference) const;
  // The file's bytes and where they are; no file of which only a difference is stored. The errors of open_file().
  [[nodiscard]] Result<FilePart> open_part(const Variant& variant, std::string_view reference) const;

  // As open_verified_file(), but with the fastest checksum available (a ZIP's CRC-32): against damage, not against
  // forgery. A file of which nothing is recorded is taken as it is.
  [[nodiscard]] Result<SharedBytes> open_checked_file(const Variant& variant, std::string_view reference) const;

  // The same for all files of the shared asset that `reference` names.
  [[nodiscard]] Status check_asset(const Variant& variant, std::string_view reference) const;

  // Reads every file. An error only when the files cannot be listed.
  [[nodiscard]] Result<PackageReport> verify() const;

 private:
  struct State;
  explicit Package(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  [[nodiscard]] Status check_recorded(const Variant& variant) const;
  [[nodiscard]] Status check_difference(const Variant& variant) const;
  // The variant's model, made of the difference and what it is from.
  [[nodiscard]] Result<SharedBytes> make_whole(const Variant& variant) const;
  // The same, once the files that it is made of are as they were written.
  [[nodiscard]] Result<SharedBytes> make_checked_whole(const Variant& variant) const;

  std::shared_ptr<const State> state_;
};

}  // namespace latebind::core
