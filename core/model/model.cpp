#include "core/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/os_error.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// The part of a file that identifies its format.
constexpr std::size_t kSniffedSize = 512;

std::string_view head_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kSniffedSize)};
}

bool looks_like_ir(std::string_view head) {
  return head.find("<net") != std::string_view::npos && head.find_first_not_of(" \t\r\n\xEF\xBB\xBF") == head.find('<');
}

// An ONNX file is a protobuf message: it begins with the tag of one of ModelProto's fields, with that field's wire
// type.
bool looks_like_onnx(std::string_view head) {
  if (head.size() < 4) return false;
  constexpr unsigned kVarint = 0;
  constexpr unsigned kLengthDelimited = 2;
  const auto tag = static_cast<unsigned char>(head[0]);
  switch (tag >> 3U) {
    case graph::ModelProto::kIrVersion:
    case graph::ModelProto::kModelVersion:
      return (tag & 7U) == kVarint;
    case graph::ModelProto::kProducerName:
    case graph::ModelProto::kProducerVersion:
    case graph::ModelProto::kDomain:
    case graph::ModelProto::kDocString:
    case graph::ModelProto::kGraph:
    case graph::ModelProto::kOpsetImport:
    case graph::ModelProto::kMetadataProps:
      return (tag & 7U) == kLengthDelimited;
    default:
      return false;
  }
}

std::filesystem::path bin_beside(const std::filesystem::path& xml) {
  auto bin = xml;
  return bin.replace_extension(".bin");
}

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

// The size comes first, so that moving bytes from one part to the next changes the digest.
void update_with_size(platform::Sha256& digest, std::span<const std::byte> bytes) {
  digest.update(fmt::format("{} ", bytes.size()));
  digest.update(bytes);
}

// Checks that the name still leads to the file that was mapped.
Status check_same(const std::filesystem::path& file, const platform::FileIdentity& mapped) {
  LB_ASSIGN_OR_RETURN(const auto now, platform::file_identity(file));
  if (now == mapped) return {};
  return {StatusCode::kIo, fmt::format("{}: the file was replaced after it was loaded", platform::path_to_utf8(file))};
}

// The digest covers the computation and the weights, as this release describes them: another release may write the same
// graph differently.
Result<std::string> digest_of_graph(const ModelGraph& model, const Model::FileDigest& of_file) {
  const std::string text = graph::describe(*model.graph);
  std::string all =
      fmt::format("graph, packed {} {}", LATEBIND_VERSION, platform::sha256_hex(std::as_bytes(std::span(text))));
  for (std::size_t i = 0; i < model.graph->weights().size(); ++i) {
    const FilePart& weights = model.graph->weights()[i];
    std::string digest = model.sources[i].identity;
    if (digest.empty() && weights.where.file.empty()) {
      digest = platform::sha256_hex(weights.bytes.bytes);
    } else if (digest.empty()) {
      LB_ASSIGN_OR_RETURN(digest, of_file(weights.where.file));
      LB_RETURN_IF_ERROR(check_same(weights.where.file, weights.identity));
    }
    all += " " + digest;
  }
  return platform::sha256_hex(std::as_bytes(std::span(all)));
}

// The error for a model whose external files cannot all be determined.
Status hides_data() {
  return Status(StatusCode::kInvalidModel,
                fmt::format("the ONNX model is damaged, nested too deeply, or has data in more than {} files",
                            graph::kExternalLocationsMax));
}

// Vendors take an external file of this name, after removing a part of its path, for an address in their own memory,
// given as the offset. A model with it would make them read any memory.
constexpr std::string_view kMemoryLocation = "_ORT_MEM_ADDR_";

Status check_locations(const graph::ExternalLocations& named) {
  if (!named.complete) return hides_data();
  const bool is_address = std::ranges::any_of(
      named.names, [](const std::string& name) { return name.find(kMemoryLocation) != std::string::npos; });
  if (!is_address) return {};
  return {StatusCode::kInvalidModel, "the ONNX model refers to an address in memory for its data"};
}

// A graph in memory must have all of its data in memory, because a vendor would look for the rest in the working
// folder.
Status check_external(const ModelForm& form) {
  if (form.format != ModelFormat::kOnnx || !form.file.empty()) return {};
  const graph::ExternalLocations named = graph::external_data_locations(form.graph.bytes);
  LB_RETURN_IF_ERROR(check_locations(named));
  for (const std::string& location : named.names) {
    if (std::ranges::find(form.external, location, &ExternalData::location) == form.external.end()) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("the ONNX model has data in '{}', which was not given", printable(location)));
    }
  }
  return {};
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

// Vendors find a file's external data only if it lies below the file's folder after all links are followed, both for
// the name of the file and for the file that it links to. If it does not, this returns a form that has the data by
// name, provided that all names stay within the folder (vendors refuse others) and all files exist.
Result<std::optional<ModelForm>> form_with_linked_data(const std::filesystem::path& file, const FilePart& part,
                                                       const std::set<std::string>& locations) {
  std::optional<ModelForm> form;
  if (locations.empty()) return form;
  const auto folder = platform::anchored(file).parent_path();
  std::error_code error;
  const auto real_folder = std::filesystem::canonical(folder, error);
  if (error) return form;
  const auto folder_of_real = std::filesystem::canonical(file, error).parent_path();
  if (error) return form;
  bool is_outside = false;
  for (const std::string& location : locations) {
    const auto name = platform::path_from_utf8(location);
    if (name.empty() || name.has_root_path() || std::ranges::find(name, "..") != name.end()) return form;
    const auto real = std::filesystem::canonical(folder / name, error);
    if (error) return form;
    is_outside = is_outside || !platform::is_within(real, real_folder) || !platform::is_within(real, folder_of_real);
  }
  if (!is_outside) return form;
  form.emplace();
  form->graph = part.bytes;
  for (const std::string& location : locations) {
    LB_ASSIGN_OR_RETURN(auto data, ExternalData::in_file(location, folder / platform::path_from_utf8(location)));
    data.may_open_file = true;
    form->external.push_back(std::move(data));
  }
  return form;
}

}  // namespace

ExternalData ExternalData::of_part(std::string location, FilePart part) {
  return ExternalData{.location = std::move(location),
                      .data = std::move(part.bytes),
                      .file = std::move(part.where.file),
                      .identity = part.identity,
                      .offset = part.where.offset};
}

Result<ExternalData> ExternalData::in_file(std::string location, const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(FilePart part, FilePart::open(platform::anchored(file)));
  ExternalData external = of_part(std::move(location), std::move(part));
  external.may_open_file = false;
  return external;
}

bool ExternalData::is_file_unchanged() const {
  if (file.empty()) return true;
  const auto now = platform::file_identity(file);
  return now.ok() && *now == identity;
}

std::optional<ModelFormat> format_of(std::span<const std::byte> bytes) {
  const std::string_view head = head_of(bytes);
  if (looks_like_ir(head)) return ModelFormat::kOpenvinoIr;
  if (looks_like_onnx(head)) return ModelFormat::kOnnx;
  return std::nullopt;
}

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

Result<std::string> Model::digest(const FileDigest& of_file) const {
  const auto digest_of = [&](const std::filesystem::path& file) {
    return of_file ? of_file(file) : platform::sha256_hex_of_file(file);
  };
  if (digest_) return digest_(digest_of);
  if (graph_) return digest_of_graph(*graph_, digest_of);
  if (forms_.empty()) return Status(StatusCode::kInvalidModel, "the model has no form");
  const ModelForm& form = forms_.front();
  platform::Sha256 digest;
  if (form.file.empty()) {
    update_with_size(digest, form.graph.bytes);
    update_with_size(digest, form.weights.bytes);
    for (const ExternalData& external : form.external) {
      update_with_size(digest, std::as_bytes(std::span(external.location)));
      if (external.file.empty() || external.offset != 0) {
        update_with_size(digest, external.data.bytes);
        continue;
      }
      LB_ASSIGN_OR_RETURN(const std::string of_its_file, digest_of(external.file));
      LB_RETURN_IF_ERROR(check_same(external.file, external.identity));
      update_with_size(digest, std::as_bytes(std::span(of_its_file)));
    }
    return digest.hex();
  }
  if (form.format == ModelFormat::kOnnx) {
    LB_ASSIGN_OR_RETURN(const auto mapped, platform::MappedFile::open(form.file));
    if (graph::may_name_external_data(mapped.bytes())) {
      return Status(StatusCode::kUnsupported, fmt::format("model '{}' has data in other files", name_));
    }
    return digest_of(form.file);
  }
  LB_ASSIGN_OR_RETURN(const auto graph, digest_of(form.file));
  LB_ASSIGN_OR_RETURN(const auto weights, digest_of(bin_beside(form.file)));
  digest.update(graph);
  digest.update(weights);
  return digest.hex();
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
