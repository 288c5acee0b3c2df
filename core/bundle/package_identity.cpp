#include "core/bundle/package_identity.h"

#include <fmt/format.h>

#include <utility>

#include "core/bundle/choose.h"
#include "core/bundle/package.h"
#include "core/bundle/refusals.h"
#include "core/platform/digest.h"

namespace latebind::core {
namespace {

Result<BundleContent> content_of(const Package& package) {
  LB_ASSIGN_OR_RETURN(const Component* component, model_component(package));
  const Variant* portable = portable_variant(*component);
  if (portable == nullptr || !portable->latebind) {
    return invalid_bundle(package.files().name(), "its portable model has no checksums");
  }
  const LatebindInfo& info = *portable->latebind;
  platform::Sha256 model;
  model.update(fmt::format("{}\n{}\n", info.format, info.model));
  for (const RecordedFile& file : info.files)
    model.update(fmt::format("{}\n{}\n", file.path, file.sha256));
  for (const auto& [role, reference] : info.assets)
    model.update(fmt::format("{}\n{}\n", role, reference));
  BundleContent content{model.hex(), {}, {}};
  platform::Sha256 all;
  all.update(content.model);
  for (const Variant& variant : component->variants) {
    if (&variant == portable) continue;
    content.variants.push_back(variant.name);
    all.update(fmt::format("\n{}\n{}", variant.name, variant.latebind ? variant.latebind->runtime_version : ""));
  }
  content.digest = all.hex();
  return content;
}

}  // namespace

Result<BundleFileContent> content_of_bundle_file(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const PackageFiles files, PackageFiles::open(file));
  const auto source = files.source();
  if (source.empty()) return invalid_bundle(files.name(), "a folder, not a bundle in one file");
  LB_ASSIGN_OR_RETURN(const Package package, Package::from_files(files));
  LB_ASSIGN_OR_RETURN(BundleContent content, content_of(package));
  return BundleFileContent{std::move(content), source.front().identity};
}

Result<BundleContent> content_of_bundle(std::span<const std::byte> bytes, const std::string& name) {
  LB_ASSIGN_OR_RETURN(PackageFiles files, PackageFiles::from_zip({nullptr, bytes}, name));
  LB_ASSIGN_OR_RETURN(const Package package, Package::from_files(std::move(files)));
  return content_of(package);
}

Status check_bundle_file(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const Package package, Package::open(file));
  LB_ASSIGN_OR_RETURN(const PackageReport report, package.verify());
  return report.ok() ? Status() : report.damages.front();
}

Result<std::string> state_of(const PackageFiles& files) {
  platform::Sha256 sum;
  LB_ASSIGN_OR_RETURN(const SharedBytes manifest, files.read(kManifestFile));
  sum.update(fmt::format("{}\n", manifest.bytes.size()));
  sum.update(manifest.bytes);
  LB_ASSIGN_OR_RETURN(const auto all, files.list());
  for (const PackageFiles::File& file : all)
    sum.update(fmt::format("{}\n{} {:08x}\n", file.path, file.size, file.crc32));
  return sum.hex();
}

Result<std::string> state_of_bundle(const std::filesystem::path& place) {
  LB_ASSIGN_OR_RETURN(const PackageFiles files, PackageFiles::open(place));
  return state_of(files);
}

}  // namespace latebind::core
