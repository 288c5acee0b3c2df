#include "core/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/graph/onnx_structure.h"
#include "core/model/external_data.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::core {
namespace {

// Returns the files, as they are now, that a vendor opens by name when it loads this form. A file that cannot be
// examined is left to the vendor, which needs it and reports the error.
std::vector<SourceFile> sources_of(const ModelForm& form) {
  std::vector<SourceFile> sources;
  const auto add = [&](const std::filesystem::path& file) {
    const auto identity = platform::file_identity(file);
    if (identity.ok()) sources.push_back({.file = file, .identity = *identity});
  };
  for (const ExternalData& external : form.external) {
    if (!external.file.empty() && external.identity != platform::FileIdentity()) {
      sources.push_back({.file = external.file, .identity = external.identity, .mapped = true});
    }
  }
  if (form.file.empty()) return sources;
  if (form.format == ModelFormat::kOpenvinoIr) {
    add(form.file);
    add(bin_beside(form.file));
    return sources;
  }
  const auto mapped = platform::MappedFile::open(form.file);
  if (!mapped.ok()) return sources;
  sources.push_back({.file = form.file, .identity = mapped->identity()});
  for (const std::string& location : graph::external_data_locations(mapped->bytes()).names)
    add(form.file.parent_path() / platform::path_from_utf8(location));
  return sources;
}

Status check(const std::vector<SourceFile>& sources, const std::string& model, bool names_count) {
  for (const SourceFile& source : sources) {
    const auto now = platform::file_identity(source.file);
    if (now.ok() && *now == source.identity) continue;
    const bool gone = !now.ok() && now.status().code() == StatusCode::kNotFound;
    const bool another =
        gone || (now.ok() && (now->file != source.identity.file || now->device != source.identity.device));
    if (source.mapped && another && !names_count) continue;
    if (!now.ok() && !gone) return now.status();
    return Status(StatusCode::kIo, fmt::format("{} was {} after the model {} was opened; open the model again",
                                               platform::path_to_utf8(source.file),
                                               gone      ? "removed"
                                               : another ? "replaced"
                                                         : "changed",
                                               model));
  }
  return {};
}

}  // namespace

Result<SharedBytes> ModelForm::open() const {
  if (file.empty()) return graph;
  LB_ASSIGN_OR_RETURN(auto part, FilePart::open(file));
  return std::move(part.bytes);
}

Result<Model> Model::from_file(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const FilePart part, FilePart::open(file));
  const auto bytes = part.bytes.bytes;
  const auto format = format_of(bytes);
  const std::string name = platform::path_to_utf8(file.filename());
  if (format == ModelFormat::kOpenvinoIr) {
    // The weights are opened as well, so that a missing or irregular file is found here: a vendor would block at a
    // pipe.
    const auto weights = platform::MappedFile::open(bin_beside(file));
    if (weights.status().code() == StatusCode::kNotFound) {
      return Status(StatusCode::kNotFound,
                    fmt::format("{}: the weights of this OpenVINO IR, {}, are missing", platform::path_to_utf8(file),
                                platform::path_to_utf8(bin_beside(file))));
    }
    LB_RETURN_IF_ERROR(weights.status());
    return from_forms(name, {{.format = ModelFormat::kOpenvinoIr, .file = platform::anchored(file)}});
  }
  if (format == ModelFormat::kOnnx) {
    LB_RETURN_IF_ERROR(graph::check_onnx_structure(bytes).with_context(platform::path_to_utf8(file)));
    const auto locations = graph::external_data_locations(bytes);
    LB_RETURN_IF_ERROR(check_locations(locations).with_context(platform::path_to_utf8(file)));
    LB_ASSIGN_OR_RETURN(auto form, form_with_linked_data(file, part, locations.names));
    if (!form) return from_forms(name, {{.format = ModelFormat::kOnnx, .file = platform::anchored(file)}});
    return from_forms(name, {*std::move(form)})
        .with_sources({{.file = platform::anchored(file), .identity = part.identity, .mapped = true}});
  }
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: neither an ONNX model nor an OpenVINO IR (.xml)", platform::path_to_utf8(file)));
}

Model Model::from_forms(std::string name, std::vector<ModelForm> forms) {
  Model model;
  model.name_ = std::move(name);
  model.forms_ = std::move(forms);
  std::vector<SourceFile> sources;
  for (const ModelForm& form : model.forms_)
    std::ranges::move(sources_of(form), std::back_inserter(sources));
  return model.with_sources(std::move(sources));
}

Model Model::from_graph(std::string name, ModelGraph graph) {
  Model model;
  model.name_ = std::move(name);
  graph.sources.resize(graph.graph->weights().size());
  for (const FilePart& weights : graph.graph->weights()) {
    if (weights.where.file.empty()) continue;
    model.sources_.push_back({.file = weights.where.file, .identity = weights.identity, .mapped = true});
  }
  model.graph_ = std::move(graph);
  return model;
}

const ModelForm* Model::find(ModelFormat format) const {
  const auto found = std::ranges::find(forms_, format, &ModelForm::format);
  return found == forms_.end() ? nullptr : &*found;
}

Model Model::with_digest(std::string digest) const {
  return with_digest([digest = std::move(digest)](const FileDigest&) -> Result<std::string> { return digest; });
}

Model Model::with_digest(DigestSource source) const {
  Model model = *this;
  model.digest_ = std::move(source);
  return model;
}

Model Model::with_proof(Proof proof) const {
  Model model = *this;
  model.proof_ = std::move(proof);
  return model;
}

Status Model::prove_digest() const {
  return proof_ ? proof_() : Status();
}

Model Model::with_blobs(std::shared_ptr<const BlobSource> blobs) const {
  Model model = *this;
  model.blobs_ = std::move(blobs);
  return model;
}

Model Model::with_check(Check check) const {
  Model model = *this;
  model.check_ = std::move(check);
  return model;
}

Status Model::check_forms() const {
  if (has_blobs_only()) {
    return Status(StatusCode::kIncompatibleBlob,
                  fmt::format("{} has only compiled forms, and none for this device", name_));
  }
  for (const ModelForm& form : forms_)
    LB_RETURN_IF_ERROR(check_external(form).with_context(name_));
  return check_ ? check_() : Status();
}

std::vector<std::filesystem::path> Model::files() const {
  std::vector<std::filesystem::path> files;
  if (graph_) {
    for (const FilePart& weights : graph_->graph->weights())
      if (!weights.where.file.empty()) files.push_back(weights.where.file);
  }
  for (const ModelForm& form : forms_) {
    if (!form.file.empty()) {
      files.push_back(form.file);
      if (form.format == ModelFormat::kOpenvinoIr) files.push_back(bin_beside(form.file));
    }
    for (const ExternalData& external : form.external)
      if (!external.file.empty()) files.push_back(external.file);
  }
  return files;
}

Model Model::with_sources(std::vector<SourceFile> sources) const {
  Model model = *this;
  for (SourceFile& source : sources) {
    const auto same = std::ranges::find(model.sources_, source.file, &SourceFile::file);
    if (same == model.sources_.end() || same->identity != source.identity) {
      model.sources_.push_back(std::move(source));
    } else {
      same->mapped = same->mapped && source.mapped;
    }
  }
  return model;
}

Status Model::check_bytes() const {
  return check(sources_, name_, false);
}

Status Model::check_files() const {
  return check(sources_, name_, true);
}

}  // namespace latebind::core
