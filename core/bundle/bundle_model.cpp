#include "core/bundle/bundle_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/bundle/asset.h"
#include "core/bundle/choose.h"
#include "core/bundle/zip_reader.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/digest.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::core {
namespace {

// Files beside an ONNX model that may hold its data; a model has one or a few.
constexpr std::size_t kExternalMax = 256;

// A file that a variant needs besides its model file: the name that the model uses for it, and the reference by which
// the package finds it.
struct Companion {
  std::string location;
  std::string reference;
};

Result<std::vector<Companion>> companions(const Package& package, const Variant& variant, const std::string& model) {
  std::vector<Companion> found;
  if (variant.latebind) {
    for (const auto& [role, reference] : variant.latebind->assets) {
      if (!is_asset_ref(reference)) continue;
      LB_ASSIGN_OR_RETURN(const AssetRef asset, parse_asset_ref(reference, role));
      if (!asset.path.empty()) found.push_back({asset.path, reference});
    }
  }
  if (variant.folder) {
    LB_ASSIGN_OR_RETURN(const auto all, package.files().list());
    const std::string below = variant.folder->empty() ? "" : *variant.folder + "/";
    for (const auto& file : all) {
      if (!file.path.starts_with(below)) continue;
      const std::string relative = file.path.substr(below.size());
      if (relative != model && found.size() < kExternalMax) found.push_back({relative, relative});
    }
  }
  return found;
}

// A file of the package that is part of the model.
struct Used {
  std::string reference;
  std::string use;  // "onnx", "xml", "bin", or the name that the model uses
};

Result<ModelForm> form_of(const Package& package, const Variant& variant, std::vector<Used>& used) {
  const std::string file = model_file_of(variant);
  ModelForm form;
  LB_ASSIGN_OR_RETURN(form.graph, package.open_file(variant, file));
  const bool is_ir = file.ends_with(".xml");
  used.push_back({file, is_ir ? "xml" : "onnx"});
  LB_ASSIGN_OR_RETURN(const auto others, companions(package, variant, file));
  if (is_ir) {
    form.format = ModelFormat::kOpenvinoIr;
    const std::string weights = file.substr(0, file.size() - 4) + ".bin";
    // The weights are in the same asset, or beside it in the variant's folder, or in another asset.
    const auto found = std::ranges::find(others, weights, &Companion::location);
    const std::string& reference = is_asset_ref(weights) || found == others.end() ? weights : found->reference;
    auto opened = package.open_file(variant, reference);
    if (opened.status().code() == StatusCode::kNotFound) {
      return Status(StatusCode::kNotFound,
                    fmt::format("{}: variant '{}' has no {}", package.files().name(), variant.name, weights));
    }
    LB_ASSIGN_OR_RETURN(form.weights, std::move(opened));
    used.push_back({reference, "bin"});
    return form;
  }
  LB_RETURN_IF_ERROR(graph::check_onnx_structure(form.graph.bytes).with_context(package.files().name()));
  if (!graph::may_name_external_data(form.graph.bytes)) return form;
  for (const Companion& other : others) {
    LB_ASSIGN_OR_RETURN(FilePart part, package.open_part(variant, other.reference));
    used.push_back({other.reference, other.location});
    form.external.push_back(ExternalData::of_part(other.location, std::move(part)));
  }
  return form;
}

// Returns a digest of the files that are used, each with its purpose, from the package's records and without reading
// the files. Empty when one of them has no record.
std::string claimed_digest(const Package& package, const Variant& variant, const std::vector<Used>& used) {
  if (!variant.latebind) return {};
  // Each word is preceded by its size, so that different lists give different texts.
  std::string text = "bundle";
  const auto add = [&](std::string_view word) { text += fmt::format(" {}:{}", word.size(), word); };
  for (const Used& file : used) {
    const auto recorded = package.recorded_sum(variant, file.reference);
    if (!recorded) return {};
    add(file.use);
    add(*recorded);
  }
  return platform::sha256_hex(std::as_bytes(std::span(text)));
}

Result<std::vector<SourceFile>> sources_of(const Package& package, const Variant& variant,
                                           const std::vector<Used>& used) {
  std::vector<SourceFile> sources = package.files().source();
  if (package.files().is_zip()) return sources;
  for (const Used& file : used) {
    LB_ASSIGN_OR_RETURN(const FilePart part, package.open_part(variant, file.reference));
    sources.push_back({.file = part.where.file, .identity = part.identity, .mapped = true});
  }
  return sources;
}

}  // namespace

Result<Model> model_of_bundle(const Package& package) {
  LB_ASSIGN_OR_RETURN(const Component* component, model_component(package));
  LB_ASSIGN_OR_RETURN(auto blobs, BundleBlobs::of(package));
  const std::string name =
      package.manifest().package_name.empty() ? package.files().name() : package.manifest().package_name;
  const Variant* portable = portable_variant(*component);
  if (portable == nullptr) {
    const bool any = std::ranges::any_of(component->variants, [](const Variant& v) { return v.latebind.has_value(); });
    if (any) return Model::from_forms(name, {}).with_sources(package.files().source()).with_blobs(std::move(blobs));
    return Status(
        StatusCode::kInvalidModel,
        fmt::format("{}: no variant is a portable ONNX model or has metadata for Latebind", package.files().name()));
  }
  std::vector<Used> used;
  LB_ASSIGN_OR_RETURN(ModelForm form, form_of(package, *portable, used));
  LB_ASSIGN_OR_RETURN(auto sources, sources_of(package, *portable, used));
  const std::string claimed = claimed_digest(package, *portable, used);
  // `portable` belongs to the content that all copies of the package share.
  auto proof = [package, portable, used]() -> Status {
    for (const Used& file : used)
      LB_RETURN_IF_ERROR(package.prove_file(*portable, file.reference));
    return {};
  };
  auto check = [package, portable, used = std::move(used)]() -> Status {
    for (const Used& file : used)
      LB_RETURN_IF_ERROR(package.open_checked_file(*portable, file.reference).status());
    return {};
  };
  const Model model = Model::from_forms(name, {std::move(form)})
                          .with_sources(std::move(sources))
                          .with_blobs(std::move(blobs))
                          .with_check(std::move(check));
  return claimed.empty() ? model : model.with_digest(claimed).with_proof(std::move(proof));
}

bool is_bundle(const std::filesystem::path& place) {
  std::error_code error;
  if (std::filesystem::is_directory(place, error)) return std::filesystem::exists(place / kManifestFile, error);
  const auto mapped = platform::MappedFile::open(place);
  return mapped.ok() && looks_like_zip(mapped->bytes());
}

}  // namespace latebind::core
