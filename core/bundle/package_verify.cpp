#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/package.h"
#include "core/bundle/package_state.h"
#include "core/platform/digest.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

Status changed(const PackageFiles& files, std::string_view path) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: '{}' was changed: its SHA-256 is not the recorded one",
                                                       files.name(), printable(path)));
}

std::string join(std::string_view folder, std::string_view path) {
  return folder.empty() ? std::string(path) : fmt::format("{}/{}", folder, path);
}

// SHA-256 of the files of a package, each computed once.
class Sums {
 public:
  explicit Sums(const PackageFiles& files) : files_(files) {}

  Result<std::string> of(const std::string& path) {
    if (const auto known = sums_.find(path); known != sums_.end()) return known->second;
    LB_ASSIGN_OR_RETURN(const FilePart part, files_.part(path));
    return sums_.emplace(path, platform::sha256_hex(part.bytes.bytes)).first->second;
  }

 private:
  const PackageFiles& files_;
  std::map<std::string, std::string> sums_;
};

using Files = std::vector<PackageFiles::File>;

// Compares an asset's content with its name. kUnsupported for an asset outside of the package.
Status compare_asset(const PackageFiles& files, const Files& all, const std::string& uri, const std::string& folder,
                     Sums& sums) {
  if (platform::path_from_utf8(folder).is_absolute()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: the shared asset in '{}' is outside the package and is not checked", files.name(),
                              printable(folder)));
  }
  std::map<std::string, std::string> content;
  for (const auto& file : files_below(all, folder)) {
    LB_ASSIGN_OR_RETURN(std::string sum, sums.of(file.path));
    content.emplace(folder.empty() ? file.path : file.path.substr(folder.size() + 1), std::move(sum));
  }
  if (asset_uri(content) == uri) return Status();
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: the shared asset in '{}' was changed: its content does not match its name",
                            files.name(), printable(folder)));
}

}  // namespace

Status Package::prove_file(const Variant& variant, std::string_view reference) const {
  if (is_difference(variant, reference)) {
    LB_ASSIGN_OR_RETURN(const SharedBytes bytes, make_whole(variant));
    if (platform::sha256_hex(bytes.bytes) == variant.latebind->difference->sha256) return {};
    return changed(files(), join(variant.folder.value_or(""), reference));
  }
  LB_ASSIGN_OR_RETURN(const std::string path, resolve(variant, reference));
  Sums sums(files());
  if (is_asset_ref(reference)) {
    LB_ASSIGN_OR_RETURN(const AssetRef ref, parse_asset_ref(reference, files().name()));
    LB_ASSIGN_OR_RETURN(const auto all, files().list());
    return compare_asset(files(), all, ref.uri, assets().at(ref.uri), sums);
  }
  if (variant.latebind) {
    for (const RecordedFile& recorded : variant.latebind->files) {
      if (join(*variant.folder, recorded.path) != path) continue;
      LB_ASSIGN_OR_RETURN(const std::string sum, sums.of(path));
      return sum == recorded.sha256 ? Status() : changed(files(), path);
    }
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: no checksum is recorded for '{}'", files().name(), printable(path)));
}

Result<SharedBytes> Package::open_verified_file(const Variant& variant, std::string_view reference) const {
  // The file is held while it is compared, so that the compared bytes are the returned ones.
  LB_ASSIGN_OR_RETURN(SharedBytes bytes, open_file(variant, reference));
  LB_RETURN_IF_ERROR(prove_file(variant, reference));
  return bytes;
}

Result<SharedBytes> Package::open_checked_file(const Variant& variant, std::string_view reference) const {
  if (is_difference(variant, reference)) return make_checked_whole(variant);
  if (files().is_zip()) {
    LB_ASSIGN_OR_RETURN(const std::string path, resolve(variant, reference));
    LB_RETURN_IF_ERROR(files().check(path));
    return open_file(variant, reference);
  }
  auto verified = open_verified_file(variant, reference);
  if (verified.status().code() == StatusCode::kUnsupported) return open_file(variant, reference);
  return verified;
}

Status Package::check_asset(const Variant& variant, std::string_view reference) const {
  LB_ASSIGN_OR_RETURN(const std::string folder, resolve(variant, reference));
  LB_ASSIGN_OR_RETURN(const auto all, files().list());
  if (!files().is_zip()) {
    LB_ASSIGN_OR_RETURN(const AssetRef asset, parse_asset_ref(reference, files().name()));
    Sums sums(files());
    const Status compared = compare_asset(files(), all, asset.uri, folder, sums);
    return compared.code() == StatusCode::kUnsupported ? Status() : compared;
  }
  for (const auto& file : files_below(all, folder))
    LB_RETURN_IF_ERROR(files().check(file.path));
  return {};
}

Result<PackageReport> Package::verify() const {
  LB_ASSIGN_OR_RETURN(const auto all, files().list());
  PackageReport report;
  const auto damage = [&](Status status) {
    if (!status.ok() && report.damages.size() < PackageReport::kDamagesMax) report.damages.push_back(std::move(status));
  };
  std::set<std::string, std::less<>> summed;
  for (const auto& file : all) {
    if (files().is_zip()) damage(files().check(file.path));
  }
  Sums sums(files());
  for (const Component& component : manifest().components) {
    for (const Variant& variant : component.variants) {
      if (!variant.latebind) continue;
      for (const RecordedFile& recorded : variant.latebind->files) {
        const std::string path = join(*variant.folder, recorded.path);
        // The size was compared when the package was opened.
        const auto sum = sums.of(path);
        if (!sum.ok()) {
          damage(sum.status());
        } else if (*sum != recorded.sha256) {
          damage(changed(files(), path));
        }
        summed.insert(path);
      }
      if (variant.latebind->difference) damage(prove_file(variant, variant.latebind->model));
    }
  }
  for (const auto& [uri, folder] : assets()) {
    const Status status = compare_asset(files(), all, uri, folder, sums);
    if (status.code() == StatusCode::kUnsupported) {
      report.unsummed.push_back(folder);
      continue;
    }
    damage(status);
    for (const auto& file : files_below(all, folder))
      summed.insert(file.path);
  }
  for (const auto& file : all) {
    const bool is_summed = summed.contains(file.path);
    if (is_summed || files().is_zip()) {
      ++report.files;
      report.bytes += file.size;
    }
    // The manifest has no record, because the other files are compared with it.
    if (is_summed || file.path == kManifestFile) continue;
    (files().is_zip() ? report.crc_only : report.unsummed).push_back(file.path);
  }
  return report;
}

}  // namespace latebind::core
