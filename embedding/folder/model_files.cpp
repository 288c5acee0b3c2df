#include "embedding/folder/model_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "core/bundle/asset.h"
#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "embedding/folder/gguf/gguf_model.h"
#include "embedding/folder/weights_files.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

// A ready ONNX file is the bundle's portable model; here it has the path that it has on the hub.
constexpr const char* kOnnxPlace = "onnx/model.onnx";

// Reads the origin from the hub's layout, <cache>/models--org--name/snapshots/<commit>.
ModelOrigin origin_of(const path& folder) {
  constexpr std::string_view kPrefix = "models--";
  constexpr std::string_view kBetween = "--";
  std::error_code error;
  const path canonical = std::filesystem::canonical(folder, error);
  if (error || canonical.parent_path().filename() != "snapshots") return {};
  std::string id = platform::path_to_utf8(canonical.parent_path().parent_path().filename());
  if (!id.starts_with(kPrefix)) return {};
  id.erase(0, kPrefix.size());
  if (const auto at = id.find(kBetween); at != std::string::npos) id.replace(at, kBetween.size(), "/");
  return {std::move(id), platform::path_to_utf8(canonical.filename())};
}

std::string own_name(const path& folder) {
  if (const ModelOrigin origin = origin_of(folder); !origin.source.empty()) {
    return origin.source.substr(origin.source.rfind('/') + 1);
  }
  std::error_code error;
  const path canonical = std::filesystem::canonical(folder, error);
  return platform::path_to_utf8((error ? folder : canonical).filename());
}

}  // namespace

Result<ModelFiles> ModelFiles::open(const path& place) {
  LB_RETURN_IF_ERROR(platform::check_path("open the model", place));
  std::error_code error;
  if (!std::filesystem::exists(place, error)) {
    return Status(StatusCode::kNotFound,
                  fmt::format("cannot open the model folder {}: {}; {}", platform::quoted(place),
                              error ? error.message() : "there is no such folder", kWhatAModelIs));
  }
  ModelFiles files;
  files.place_ = platform::anchored(place);
  const bool is_folder = std::filesystem::is_directory(place, error);
  if (is_folder && !std::filesystem::exists(place / core::kManifestFile, error)) {
    LB_ASSIGN_OR_RETURN(const auto only_gguf, find_gguf_model(place));
    if (only_gguf) return open_gguf(place, *only_gguf);
    files.name_ = own_name(place);
    return files;
  }
  if (!is_folder && is_gguf_file(place)) return open_gguf(place, place);
  auto opened = core::Package::open(place);
  if (!opened.ok()) {
    if (core::is_bundle(place) || opened.status().code() != StatusCode::kInvalidModel) return opened.status();
    if (has_gguf_suffix(place)) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("cannot open the model {}: not a GGUF file: its first bytes are not GGUF",
                                platform::quoted(place)));
    }
    return Status(StatusCode::kInvalidModel,
                  fmt::format("cannot open the model {}: it is a file and no bundle ({}); {}", platform::quoted(place),
                              opened.status().message(), kWhatAModelIs));
  }
  files.package_ = *std::move(opened);
  files.name_ = own_name(place);
  LB_RETURN_IF_ERROR(files.read_package());
  return files;
}

Result<ModelFiles> ModelFiles::open_gguf(const path& place, const path& file) {
  ModelFiles files;
  files.place_ = platform::anchored(file);
  LB_ASSIGN_OR_RETURN(GgufModel model, GgufModel::open(files.place_));
  files.gguf_ = std::make_shared<const GgufModel>(std::move(model));
  files.place_ = files.gguf_->file();
  files.name_ = files.gguf_->name();
  // In a repository of the hub, the folder's name is more specific than the file's.
  if (const ModelOrigin origin = origin_of(place); !origin.source.empty()) files.name_ = own_name(place);
  return files;
}

Result<ModelFiles> ModelFiles::of(core::Package package) {
  ModelFiles files;
  files.name_ = package.files().name();
  files.place_ = platform::path_from_utf8(files.name_);
  files.package_ = std::move(package);
  LB_RETURN_IF_ERROR(files.read_package());
  return files;
}

Status ModelFiles::read_package() {
  const core::Package& package = *package_;
  if (!package.manifest().package_name.empty()) name_ = package.manifest().package_name;
  LB_ASSIGN_OR_RETURN(const core::Component* component, core::model_component(package));
  portable_ = core::portable_variant(*component);
  const auto* info = portable_ != nullptr && portable_->latebind ? &*portable_->latebind : nullptr;
  const auto role =
      info != nullptr ? info->assets.find(core::kModelFolderRole) : std::map<std::string, std::string>::iterator();
  if (info == nullptr || role == info->assets.end()) {
    return {StatusCode::kInvalidModel,
            fmt::format("{}: no text-embedding model is in this package (its portable variant names no '{}')",
                        platform::path_to_utf8(place_), core::kModelFolderRole)};
  }
  // The content of the shared assets. It is compared with its checksums now, except for the weights, which are large.
  LB_ASSIGN_OR_RETURN(const std::string folder, package.resolve(*portable_, role->second));
  LB_ASSIGN_OR_RETURN(const auto all, package.files().list());
  const auto add_asset = [&](const std::string& place, const std::string& asset) {
    for (const auto& file : all) {
      if (!file.path.starts_with(place + "/")) continue;
      const std::string relative = file.path.substr(place.size() + 1);
      references_[relative] = fmt::format("{}/{}", asset, relative);
    }
  };
  add_asset(folder, role->second);
  LB_RETURN_IF_ERROR(package.check_asset(*portable_, role->second));
  if (const auto weights = info->assets.find(kWeightsRole); weights != info->assets.end()) {
    LB_ASSIGN_OR_RETURN(const core::AssetRef asset, core::parse_asset_ref(weights->second, "weights"));
    if (asset.path.empty()) {
      LB_ASSIGN_OR_RETURN(const std::string place, package.resolve(*portable_, weights->second));
      add_asset(place, weights->second);
      return {};
    }
    // The weights are beside config.json, as in the original folder, or beside tokenizer.json or the list of words of
    // static embeddings.
    std::vector<std::string> places;
    for (const auto& [relative, reference] : references_) {
      const std::string file = relative.substr(relative.rfind('/') + 1);
      if (file == "config.json" || file == "tokenizer.json" || file == kWordListFile)
        places.push_back(relative.substr(0, relative.size() - file.size()));
    }
    // Folders with separate weights keep them, such as the table of a router's queries.
    for (const std::string& one : places)
      references_.try_emplace(one + asset.path, weights->second);
  } else if (info->format == "onnx") {
    references_[kOnnxPlace] = info->model;
  }
  return {};
}

ModelOrigin ModelFiles::origin() const {
  if (gguf_) return origin_of(place_.parent_path());
  return package_ ? ModelOrigin{} : origin_of(place_);
}

std::string ModelFiles::relative(const path& file) const {
  const auto below = [&](const path& folder) {
    const auto text = file.lexically_normal().lexically_relative(folder.lexically_normal()).generic_u8string();
    return std::string(text.begin(), text.end());
  };
  if (!base_.empty()) {
    if (std::string in_base = below(base_); !in_base.empty() && !in_base.starts_with(".."))
      return fmt::format("{}/{}", kBaseFolder, in_base);
  }
  return below(place_);
}

std::vector<std::string> ModelFiles::folders_with(const path& folder, std::string_view file) const {
  std::vector<std::string> names;
  if (package_) {
    std::string above = relative(folder);
    above = above == "." ? std::string() : above + "/";
    const std::string end = fmt::format("/{}", file);
    for (const auto& [name, reference] : references_) {
      if (!name.starts_with(above) || !name.ends_with(end) || name.size() <= above.size() + end.size()) continue;
      std::string between = name.substr(above.size(), name.size() - above.size() - end.size());
      if (between.find('/') == between.npos) names.push_back(std::move(between));
    }
  } else {
    std::error_code ignored;
    platform::for_each_entry(folder, ignored, [&](const path& entry) {
      if (has(entry / file)) names.push_back(platform::path_to_utf8(entry.filename()));
      return true;
    });
  }
  std::ranges::sort(names);
  return names;
}

const std::string* ModelFiles::reference_to(const path& file) const {
  const auto found = references_.find(relative(file));
  return found == references_.end() ? nullptr : &found->second;
}

bool ModelFiles::has(const path& file) const {
  if (package_) return reference_to(file) != nullptr;
  if (gguf_) return gguf_->weights(relative(file)) || gguf_->find(relative(file)).has_value();
  std::error_code error;
  return std::filesystem::is_regular_file(file, error);
}

Status ModelFiles::in_its_terms(Status status) const {
  return gguf_ && !status.ok() ? gguf_->in_its_terms(status) : status;
}

std::optional<path> ModelFiles::on_disk(const path& file) const {
  if (package_) return std::nullopt;
  if (!gguf_) return file;
  return gguf_->weights(relative(file));
}

Result<StoredFile> ModelFiles::open_file(const path& file) const {
  if (gguf_) {
    const auto text = gguf_->find(relative(file));
    if (text) return StoredFile{platform::path_to_utf8(file), {.bytes = *text}};
    const auto weights = on_disk(file);
    if (!weights)
      return Status(StatusCode::kNotFound, fmt::format("{}: there is no such file", platform::quoted(file)));
    LB_ASSIGN_OR_RETURN(auto part, core::FilePart::open(*weights));
    return StoredFile{platform::path_to_utf8(*weights), std::move(part)};
  }
  const std::string* reference = reference_to(file);
  if (package_ && reference == nullptr) {
    return Status(StatusCode::kNotFound, fmt::format("{}: there is no such file", platform::quoted(file)));
  }
  LB_ASSIGN_OR_RETURN(auto part, package_ ? package_->open_part(*portable_, *reference) : core::FilePart::open(file));
  return StoredFile{platform::path_to_utf8(file), std::move(part)};
}

Result<std::optional<core::Json>> ModelFiles::read_json(const path& file, const core::JsonLimits& limits) const {
  const auto stored = open_file(file);
  if (!stored.ok()) {
    if (stored.status().code() == StatusCode::kNotFound) return std::optional<core::Json>();
    return stored.status();
  }
  const auto bytes = stored->bytes();
  LB_ASSIGN_OR_RETURN(auto document, core::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                                      stored->name, limits));
  return std::optional<core::Json>(std::move(document));
}

Status ModelFiles::check(const path& file) const {
  const std::string* reference = package_ ? reference_to(file) : nullptr;
  return reference == nullptr ? Status() : package_->open_checked_file(*portable_, *reference).status();
}

std::string ModelFiles::identity(const path& file) const {
  const std::string* reference = package_ ? reference_to(file) : nullptr;
  if (reference == nullptr) return {};
  if (core::is_asset_ref(*reference)) return *reference;
  for (const core::RecordedFile& recorded : portable_->latebind->files) {
    if (recorded.path == *reference) return recorded.sha256;
  }
  return {};
}

Status ModelFiles::prove(const path& file) const {
  const std::string* reference = package_ ? reference_to(file) : nullptr;
  return reference == nullptr ? Status() : package_->prove_file(*portable_, *reference);
}

}  // namespace latebind::embedding
