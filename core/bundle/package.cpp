#include "core/bundle/package.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/package_state.h"
#include "core/bundle/path_rules.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

constexpr std::string_view kAssetsFolder = "shared_assets";

std::string place_of(const PackageFiles& files, const Variant& variant) {
  return fmt::format("{}: variant '{}'", files.name(), printable(variant.name));
}

// The manifest need not list assets, because the names of their folders identify them.
Result<std::map<std::string, std::string>> find_assets(const PackageFiles& files, const Manifest& manifest) {
  std::map<std::string, std::string> assets = manifest.shared_assets;
  if (!files.has_folder(kAssetsFolder)) return assets;
  LB_ASSIGN_OR_RETURN(const auto all, files.list());
  for (const auto& file : all) {
    if (!is_below(file.path, kAssetsFolder)) continue;
    const std::string_view rest = std::string_view(file.path).substr(kAssetsFolder.size() + 1);
    const std::string_view name = rest.substr(0, rest.find('/'));
    const std::string uri = asset_uri_of_folder(name);
    if (!uri.empty() && name.size() < rest.size()) assets.try_emplace(uri, default_asset_folder(uri));
  }
  return assets;
}

Status check_size(const RecordedFile& recorded, const SharedBytes& bytes, std::string_view where) {
  if (bytes.bytes.size() == recorded.bytes) return Status();
  return Status(StatusCode::kInvalidModel, fmt::format("{}: '{}' has {} bytes, but was written with {}", where,
                                                       printable(recorded.path), bytes.bytes.size(), recorded.bytes));
}

const RecordedFile* find_record(const Variant& variant, std::string_view path) {
  if (!variant.latebind || !variant.folder || !is_below(path, *variant.folder)) return nullptr;
  const std::string_view relative = variant.folder->empty() ? path : path.substr(variant.folder->size() + 1);
  const auto found = std::ranges::find(variant.latebind->files, relative, &RecordedFile::path);
  return found == variant.latebind->files.end() ? nullptr : &*found;
}

}  // namespace

Result<Package> Package::open(const std::filesystem::path& place, const PackageOptions& options) {
  const auto outside = options.installed == InstalledLayout::kAllowed ? PackageFiles::Outside::kAllowed
                                                                      : PackageFiles::Outside::kRefused;
  LB_ASSIGN_OR_RETURN(PackageFiles files, PackageFiles::open(place, outside));
  return from_files(std::move(files), options);
}

Result<Package> Package::from_files(PackageFiles files, const PackageOptions& options) {
  LB_ASSIGN_OR_RETURN(Manifest manifest, read_manifest(files, options.installed));
  LB_ASSIGN_OR_RETURN(auto assets, find_assets(files, manifest));
  Package package(std::make_shared<const State>(State{std::move(files), std::move(manifest), std::move(assets)}));
  for (const Component& component : package.manifest().components) {
    for (const Variant& variant : component.variants) {
      if (variant.latebind) LB_RETURN_IF_ERROR(package.check_recorded(variant));
    }
  }
  return package;
}

Status Package::check_recorded(const Variant& variant) const {
  const LatebindInfo& info = *variant.latebind;
  const std::string where = place_of(files(), variant);
  for (const RecordedFile& file : info.files) {
    LB_ASSIGN_OR_RETURN(const std::string path, resolve(variant, file.path));
    const auto bytes = files().read(path);
    if (bytes.status().code() == StatusCode::kNotFound) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}: its file '{}' is missing", where, printable(file.path)));
    }
    LB_RETURN_IF_ERROR(bytes.status());
    LB_RETURN_IF_ERROR(check_size(file, *bytes, where));
  }
  for (const auto& [role, reference] : info.assets)
    LB_RETURN_IF_ERROR(resolve(variant, reference).status());
  if (info.model.empty()) return {};
  if (info.difference) return check_difference(variant).with_context(where);
  LB_ASSIGN_OR_RETURN(const std::string path, resolve(variant, info.model));
  if (files().has_file(path)) return {};
  return Status(StatusCode::kInvalidModel, fmt::format("{}: its model '{}' is missing", where, printable(info.model)));
}

const Manifest& Package::manifest() const {
  return state_->manifest;
}

const PackageFiles& Package::files() const {
  return state_->files;
}

const std::map<std::string, std::string>& Package::assets() const {
  return state_->assets;
}

const Component* Package::find_component(std::string_view name) const {
  const auto& components = manifest().components;
  const auto found = std::ranges::find(components, name, &Component::name);
  return found == components.end() ? nullptr : &*found;
}

const Variant* Package::find_variant(const Component& component, std::string_view name) {
  const auto found = std::ranges::find(component.variants, name, &Variant::name);
  return found == component.variants.end() ? nullptr : &*found;
}

Result<std::string> Package::resolve(const Variant& variant, std::string_view reference) const {
  const std::string where = place_of(files(), variant);
  if (!is_asset_ref(reference)) {
    if (variant.folder && platform::path_from_utf8(*variant.folder).is_absolute()) {
      LB_ASSIGN_OR_RETURN(const std::string relative, join_package_path("", reference, where));
      return *variant.folder + "/" + relative;
    }
    if (variant.folder) return join_package_path(*variant.folder, reference, where);
    return Status(StatusCode::kInvalidModel, fmt::format("{}: it has no folder for '{}'", where, printable(reference)));
  }
  LB_ASSIGN_OR_RETURN(const AssetRef ref, parse_asset_ref(reference, where));
  const auto found = assets().find(ref.uri);
  if (found == assets().end()) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: the shared asset '{}' is missing", where, ref.uri));
  }
  if (ref.path.empty()) return found->second;
  return found->second.empty() ? ref.path : found->second + "/" + ref.path;
}

Result<FilePart> Package::open_part(const Variant& variant, std::string_view reference) const {
  LB_ASSIGN_OR_RETURN(const std::string path, resolve(variant, reference));
  const std::string where = place_of(files(), variant);
  auto part = files().part(path);
  if (!part.ok()) return part.status().with_context(fmt::format("variant '{}'", printable(variant.name)));
  if (is_asset_ref(reference)) return part;
  if (const RecordedFile* recorded = find_record(variant, path)) {
    LB_RETURN_IF_ERROR(check_size(*recorded, part->bytes, where));
  }
  return part;
}

Result<SharedBytes> Package::open_file(const Variant& variant, std::string_view reference) const {
  if (is_difference(variant, reference)) return make_whole(variant);
  LB_ASSIGN_OR_RETURN(FilePart part, open_part(variant, reference));
  return std::move(part.bytes);
}

std::optional<std::string> Package::recorded_sum(const Variant& variant, std::string_view reference) const {
  if (is_asset_ref(reference)) return std::string(reference);
  if (is_difference(variant, reference)) return variant.latebind->difference->sha256;
  const auto path = resolve(variant, reference);
  const RecordedFile* recorded = path.ok() ? find_record(variant, *path) : nullptr;
  return recorded == nullptr ? std::nullopt : std::optional(recorded->sha256);
}

}  // namespace latebind::core
