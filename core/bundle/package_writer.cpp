#include "core/bundle/package_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/own_folder.h"
#include "core/bundle/package_content.h"
#include "core/bundle/path_rules.h"
#include "core/bundle/refusals.h"
#include "core/bundle/share_blobs.h"
#include "core/bundle/zip_writer.h"
#include "core/platform/digest.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/output_folder.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using std::filesystem::path;

Status argument(std::string_view what) {
  return Status(StatusCode::kInvalidArgument, std::string(what));
}

Status check_files(const std::vector<PackageFile>& files, std::string_view where) {
  std::vector<std::string_view> paths;
  for (const PackageFile& file : files) {
    LB_RETURN_IF_ERROR(as_argument(check_package_path(file.path, where)));
    paths.push_back(file.path);
  }
  return as_argument(check_distinct_paths(paths, {}, where));
}

Status is_in_the_way(const path& folder) {
  return argument(fmt::format("cannot write the folder {}: it exists and is not empty; name another one",
                              platform::quoted(folder)));
}

// Checks that the name is one part of a path that is valid on every system.
Status check_folder_name(std::string_view name, std::string_view what) {
  LB_RETURN_IF_ERROR(as_argument(check_package_path(name, what)));
  if (name.find('/') == std::string_view::npos) return Status();
  return argument(fmt::format("{}: the name '{}' has a slash", what, printable(name)));
}

Status check_slots(const VariantInput& variant, std::string_view where) {
  for (const auto& [consumer, slot] : variant.executor_info) {
    if (consumer == kLatebindSlot)
      return argument(fmt::format("{}: the slot 'latebind' is reserved for Latebind", where));
    if (!slot.is_object()) {
      return argument(fmt::format("{}: executor_info of '{}' must be an object", where, printable(consumer)));
    }
  }
  return Status();
}

std::string folder_of(const std::string& component, const std::string& variant) {
  return fmt::format("{}/{}", component, variant);
}

}  // namespace

Result<std::string> PackageWriter::add_asset(const std::vector<PackageFile>& files) {
  if (files.empty()) return argument("a shared asset: it has no file");
  LB_RETURN_IF_ERROR(check_files(files, "a shared asset"));
  std::map<std::string, std::string> sums;
  for (const PackageFile& file : files)
    sums.emplace(file.path, platform::sha256_hex(file.bytes.bytes));
  std::string uri = asset_uri(sums);
  content_.assets.try_emplace(uri, files);
  return uri;
}

Status PackageWriter::add_variant(const std::string& component, VariantInput variant) {
  LB_RETURN_IF_ERROR(check_folder_name(component, "a component"));
  LB_RETURN_IF_ERROR(check_folder_name(variant.name, "a variant"));
  if (folder_name_of(component) == "shared_assets" || folder_name_of(component) == kManifestFile) {
    return argument(fmt::format("a component: the name '{}' is taken", component));
  }
  const std::string where = fmt::format("variant '{}'", variant.name);
  if (const auto there = content_.components.find(component);
      there != content_.components.end() && there->second.contains(variant.name)) {
    return argument(fmt::format("{} exists already", where));
  }
  LB_RETURN_IF_ERROR(check_files(variant.files, where));
  LB_RETURN_IF_ERROR(check_slots(variant, where));
  if (variant.latebind) {
    LatebindInfo& info = *variant.latebind;
    info.files.clear();
    for (const PackageFile& file : variant.files)
      info.files.push_back({file.path, file.bytes.bytes.size(), platform::sha256_hex(file.bytes.bytes)});
    std::ranges::sort(info.files, {}, &RecordedFile::path);
    const auto again = parse_latebind_info(to_json(info), where);
    if (!again.ok()) return as_argument(again.status());
    std::vector<std::string> references;
    for (const auto& [role, reference] : info.assets)
      references.push_back(reference);
    if (is_asset_ref(info.model)) references.push_back(info.model);
    for (const std::string& reference : references) {
      LB_ASSIGN_OR_RETURN(const AssetRef ref, parse_asset_ref(reference, where));
      if (!content_.assets.contains(ref.uri))
        return argument(fmt::format("{}: the asset '{}' was not added", where, ref.uri));
    }
  }
  std::string name = variant.name;
  content_.components[component].emplace(std::move(name), std::move(variant));
  return Status();
}

Status PackageWriter::add_package(const Package& package, std::string_view component,
                                  const std::set<std::string>& without) {
  LB_ASSIGN_OR_RETURN(const PackageReport report, package.verify());
  if (!report.ok()) return report.damages.front();
  LB_ASSIGN_OR_RETURN(const auto all, package.files().list());
  const std::set<std::string> sources = assets_of_differences(package);
  for (const auto& [uri, folder] : package.assets()) {
    if (sources.contains(uri)) continue;
    LB_ASSIGN_OR_RETURN(const auto files, content_of_folder(package.files(), all, folder));
    LB_RETURN_IF_ERROR(add_asset(files).status());
  }
  for (const Component& from : package.manifest().components) {
    if (!from.additional_metadata.is_null()) component_metadata_[from.name] = from.additional_metadata;
    for (const Variant& variant : from.variants) {
      if (from.name == component && without.contains(variant.name)) continue;
      LB_ASSIGN_OR_RETURN(VariantInput input, whole_variant(package, all, sources, variant));
      LB_RETURN_IF_ERROR(add_variant(from.name, std::move(input)));
    }
  }
  return {};
}

Status PackageWriter::set_refused(const std::string& component, const std::vector<RefusedTarget>& refused,
                                  const std::set<std::string>& again) {
  const auto found = content_.components.find(component);
  if (found == content_.components.end()) return {};
  for (auto& [name, variant] : found->second) {
    if (!variant.latebind || !variant.latebind->is_portable()) continue;
    LatebindInfo info = *variant.latebind;
    std::erase_if(info.refused, [&](const RefusedTarget& one) { return again.contains(one.variant); });
    info.refused.insert(info.refused.end(), refused.begin(), refused.end());
    std::ranges::sort(info.refused, {}, &RefusedTarget::variant);
    const auto read = parse_latebind_info(to_json(info), fmt::format("variant '{}'", name));
    if (!read.ok()) return as_argument(read.status());
    variant.latebind = std::move(info);
    return {};
  }
  return {};
}

Manifest PackageWriter::make_manifest(const Content& content) const {
  Manifest manifest;
  manifest.package_name = head_.name;
  manifest.package_version = head_.version;
  manifest.description = head_.description;
  manifest.additional_metadata = head_.additional_metadata;
  for (const auto& [name, variants] : content.components) {
    Component component;
    component.name = name;
    if (const auto metadata = component_metadata_.find(name); metadata != component_metadata_.end()) {
      component.additional_metadata = metadata->second;
    }
    for (const auto& [variant_name, input] : variants) {
      Variant variant;
      variant.name = variant_name;
      variant.folder = folder_of(name, variant_name);
      variant.ep = input.ep;
      variant.device = input.device;
      variant.compatibility_string = input.compatibility_string;
      variant.latebind = input.latebind;
      variant.executor_info = input.executor_info;
      variant.additional_metadata = input.additional_metadata;
      component.variants.push_back(std::move(variant));
    }
    manifest.components.push_back(std::move(component));
  }
  for (const auto& [uri, files] : content.assets)
    manifest.shared_assets.emplace(uri, default_asset_folder(uri));
  return manifest;
}

Result<std::map<std::string, SharedBytes>> PackageWriter::lay_out(const Content& content,
                                                                  std::vector<std::string>& empty_folders) const {
  if (content.components.empty()) return argument("cannot write a bundle without a variant");
  LB_ASSIGN_OR_RETURN(std::string text, manifest_text(make_manifest(content)));
  std::map<std::string, SharedBytes> files;
  files.emplace(kManifestFile, SharedBytes::from_string(std::move(text)));
  for (const auto& [component, variants] : content.components) {
    for (const auto& [name, variant] : variants) {
      const std::string folder = folder_of(component, name);
      if (variant.files.empty()) empty_folders.push_back(folder);
      for (const PackageFile& file : variant.files)
        files.emplace(fmt::format("{}/{}", folder, file.path), file.bytes);
    }
  }
  for (const auto& [uri, asset] : content.assets) {
    for (const PackageFile& file : asset)
      files.emplace(fmt::format("{}/{}", default_asset_folder(uri), file.path), file.bytes);
  }
  std::vector<std::string_view> paths;
  for (const auto& [name, bytes] : files) {
    LB_RETURN_IF_ERROR(as_argument(check_package_path(name, "a bundle")));
    paths.push_back(name);
  }
  LB_RETURN_IF_ERROR(as_argument(check_distinct_paths(paths, {}, "a bundle")));
  return files;
}

Result<std::vector<ZipInput>> PackageWriter::zip_entries() const {
  std::vector<std::string> empty_folders;
  Content content = content_;
  for (auto& [name, variants] : content.components)
    share_blobs(variants, content.assets);
  LB_ASSIGN_OR_RETURN(const auto files, lay_out(content, empty_folders));
  // The manifest comes first, so that the beginning of the file shows what it is.
  std::vector<ZipInput> entries;
  entries.push_back({kManifestFile, {files.at(kManifestFile)}});
  for (const std::string& folder : empty_folders)
    entries.push_back({folder + "/", {}});
  for (const auto& [name, bytes] : files) {
    if (name != kManifestFile) entries.push_back({name, {bytes}});
  }
  return entries;
}

Result<ZipImage> PackageWriter::zip() const {
  LB_ASSIGN_OR_RETURN(auto entries, zip_entries());
  return ZipImage::lay_out(std::move(entries));
}

Status PackageWriter::write(const path& place, PackageForm form, const MayReplace& may_replace) const {
  if (form == PackageForm::kFolder) {
    std::vector<std::string> empty_folders;
    LB_ASSIGN_OR_RETURN(const auto files, lay_out(content_, empty_folders));
    return write_package_folder(place, files, empty_folders, [&](const path& old) {
      LB_RETURN_IF_ERROR(check_replaceable(old, place));
      return may_replace ? may_replace(old) : Status();
    });
  }
  LB_ASSIGN_OR_RETURN(const auto entries, zip_entries());
  return write_zip(place, entries, {}, [&] { return may_replace ? may_replace(place) : Status(); });
}

Status write_package_folder(const path& place, const std::map<std::string, SharedBytes>& files,
                            const std::vector<std::string>& empty_folders,
                            const PackageWriter::MayReplace& may_replace) {
  if (may_replace) {
    LB_RETURN_IF_ERROR(may_replace(place));
  } else if (!is_empty_or_absent(place)) {
    return is_in_the_way(place);
  }
  LB_ASSIGN_OR_RETURN(const path full, platform::OutputFolder::place_of(place));
  platform::remove_abandoned_folders(full.parent_path());
  LB_ASSIGN_OR_RETURN(platform::OutputFolder output, platform::OutputFolder::create(full));
  const auto make = [](const path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    return error ? platform::status_of_errno("make", folder, error.value()) : Status();
  };
  for (const std::string& folder : empty_folders)
    LB_RETURN_IF_ERROR(make(output.path() / platform::path_from_utf8(folder)));
  for (const auto& [name, bytes] : files) {
    LB_RETURN_IF_ERROR(as_argument(check_package_path(name, "a bundle's file")));
    const path file = output.path() / platform::path_from_utf8(name);
    LB_RETURN_IF_ERROR(make(file.parent_path()));
    LB_ASSIGN_OR_RETURN(platform::OutputFile writer, platform::OutputFile::create(file));
    LB_RETURN_IF_ERROR(writer.write(bytes.bytes));
    LB_RETURN_IF_ERROR(writer.commit());
  }
  return output.commit(may_replace);
}

Status unpack_package(const Package& package, const path& folder) {
  if (!assets_of_differences(package).empty()) {
    if (!is_empty_or_absent(folder)) return is_in_the_way(folder);
    const Manifest& manifest = package.manifest();
    PackageWriter writer(
        {manifest.package_name, manifest.package_version, manifest.description, manifest.additional_metadata});
    LB_RETURN_IF_ERROR(writer.add_package(package, {}, {}));
    return writer.write(folder, PackageForm::kFolder);
  }
  const PackageFiles& files = package.files();
  LB_ASSIGN_OR_RETURN(const auto all, files.list());
  std::map<std::string, SharedBytes> content;
  for (const auto& file : all) {
    LB_RETURN_IF_ERROR(files.check(file.path));
    LB_ASSIGN_OR_RETURN(SharedBytes bytes, files.read(file.path));
    content.emplace(file.path, std::move(bytes));
  }
  LB_ASSIGN_OR_RETURN(const auto folders, files.list_folders());
  return write_package_folder(folder, content, folders);
}

}  // namespace latebind::core
