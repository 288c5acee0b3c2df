// Computes the digest of a model.
#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/graph/onnx_structure.h"
#include "core/model/external_data.h"
#include "core/model/model.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::core {
namespace {

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

}  // namespace

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

}  // namespace latebind::core
