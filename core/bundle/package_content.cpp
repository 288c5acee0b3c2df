#include "core/bundle/package_content.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/bundle/asset.h"
#include "core/platform/digest.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// Returns the URI of a reference that was checked when it was read.
std::string uri_of(const std::string& reference) {
  return reference.substr(0, reference.find('/'));
}

// Replaces a difference by the file that it makes.
Status undo_difference(const Package& package, const Variant& variant, VariantInput& input) {
  LatebindInfo& info = *input.latebind;
  StoredDifference difference = *std::exchange(info.difference, std::nullopt);
  std::erase_if(input.files, [&](const PackageFile& file) { return file.path == difference.file; });
  LB_ASSIGN_OR_RETURN(SharedBytes bytes, package.open_file(variant, info.model));
  input.files.push_back({info.model, std::move(bytes)});
  input.ep = std::move(difference.ep);
  if (!difference.host.is_null()) input.executor_info[kHostSlot] = std::move(difference.host);
  return {};
}

// Replaces a reference to an asset by a file in the variant's folder.
Status undo_asset(const Package& package, const Variant& variant, VariantInput& input) {
  LatebindInfo& info = *input.latebind;
  LB_ASSIGN_OR_RETURN(const AssetRef reference, parse_asset_ref(info.model, package.files().name()));
  LB_ASSIGN_OR_RETURN(SharedBytes bytes, package.open_file(variant, info.model));
  if (const auto host = input.executor_info.find(kHostSlot); host != input.executor_info.end()) {
    host->second[kHostModelFile] = reference.path;
  }
  input.files.push_back({reference.path, std::move(bytes)});
  info.model = reference.path;
  return {};
}

}  // namespace

Result<std::vector<PackageFile>> content_of_folder(const PackageFiles& files, std::span<const PackageFiles::File> all,
                                                   const std::string& folder) {
  if (platform::path_from_utf8(folder).is_absolute()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: '{}' is outside the package", files.name(), printable(folder)));
  }
  const std::size_t prefix = folder.empty() ? 0 : folder.size() + 1;
  std::vector<PackageFile> found;
  for (const auto& file : files_below(all, folder)) {
    LB_ASSIGN_OR_RETURN(SharedBytes bytes, files.read(file.path));
    found.push_back({file.path.substr(prefix), std::move(bytes)});
  }
  return found;
}

std::set<std::string> assets_of_differences(const Package& package) {
  std::set<std::string> sources;
  std::set<std::string> others;
  for (const Component& component : package.manifest().components) {
    for (const Variant& variant : component.variants) {
      if (!variant.latebind) continue;
      const LatebindInfo& info = *variant.latebind;
      if (info.difference) sources.insert(uri_of(info.difference->from));
      if (!info.is_copied && is_asset_ref(info.model)) others.insert(uri_of(info.model));
      for (const auto& [role, reference] : info.assets)
        others.insert(uri_of(reference));
    }
  }
  std::erase_if(sources, [&](const std::string& uri) { return others.contains(uri); });
  return sources;
}

Result<VariantInput> whole_variant(const Package& package, std::span<const PackageFiles::File> all,
                                   const std::set<std::string>& sources, const Variant& variant) {
  VariantInput input{.name = variant.name,
                     .ep = variant.ep,
                     .device = variant.device,
                     .compatibility_string = variant.compatibility_string,
                     .latebind = variant.latebind,
                     .executor_info = variant.executor_info,
                     .additional_metadata = variant.additional_metadata};
  if (variant.folder) {
    LB_ASSIGN_OR_RETURN(input.files, content_of_folder(package.files(), all, *variant.folder));
  }
  if (!input.latebind) return input;
  const LatebindInfo& info = *input.latebind;
  if (info.difference) {
    LB_RETURN_IF_ERROR(undo_difference(package, variant, input));
  } else if (info.is_copied && is_asset_ref(info.model) && sources.contains(uri_of(info.model))) {
    LB_RETURN_IF_ERROR(undo_asset(package, variant, input));
  }
  return input;
}

}  // namespace latebind::core
