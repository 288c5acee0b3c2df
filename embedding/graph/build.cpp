#include "embedding/graph/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bundle/choose.h"
#include "core/onnx_structure.h"
#include "core/platform/digest.h"
#include "core/platform/file_identity.h"
#include "core/platform/folders.h"
#include "core/platform/mapped_file.h"
#include "embedding/graph/bert.h"
#include "embedding/graph/export.h"
#include "embedding/graph/onnx_reader.h"
#include "embedding/graph/onnx_writer.h"
#include "embedding/graph/openvino_ir_writer.h"
#include "embedding/safetensors.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

// The identity of what is built here: the forms' own bytes (names, figures and small constants) and the weights: what
// the bundle calls them, or the file, which must still be the one that was mapped.
core::Model::DigestSource digest_source(const std::string& forms, const std::string& weights_name,
                                        const std::filesystem::path& weights, const platform::FileIdentity& mapped) {
  return [=](const core::Model::FileDigest& of_file) -> Result<std::string> {
    std::string weights_digest = weights_name;
    if (weights_digest.empty()) {
      LB_ASSIGN_OR_RETURN(weights_digest, of_file(weights));
      LB_ASSIGN_OR_RETURN(const auto now, platform::file_identity(weights));
      if (now != mapped) {
        return Status(StatusCode::kIo,
                      fmt::format("{}: the file was replaced after it was loaded", platform::path_to_utf8(weights)));
      }
    }
    const std::string all = fmt::format("graph {} {}", forms, weights_digest);
    return platform::sha256_hex(std::as_bytes(std::span(all)));
  };
}

core::SourceFile source_of(const StoredFile& stored) {
  return {.file = stored.part.where.file, .identity = stored.part.identity, .mapped = true};
}

Result<Safetensors> open_weights(const ModelFolder& folder, StoredFile& stored) {
  LB_ASSIGN_OR_RETURN(stored, folder.files.open_file(*folder.weights_file));
  return Safetensors::from_bytes(stored.bytes(), stored.name);
}

Result<GraphModel> from_weights(const ModelFolder& folder, const GraphOptions& options) {
  StoredFile stored;
  LB_ASSIGN_OR_RETURN(const Safetensors weights, open_weights(folder, stored));
  LB_ASSIGN_OR_RETURN(const Graph graph, make_bert_graph(folder, weights, options));
  const std::string location = platform::path_to_utf8(folder.weights_file->filename());
  const std::size_t file_size = weights.bytes().size();
  LB_ASSIGN_OR_RETURN(std::string onnx, write_onnx(graph, location));
  LB_ASSIGN_OR_RETURN(OpenvinoIr ir, write_openvino_ir(graph, platform::MappedFile::tail_offset(file_size)));

  // Both forms refer to one mapping: the weights with the small constants of the IR behind them.
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open_with_tail(
                                       stored.part.where, std::as_bytes(std::span(ir.tail.data(), ir.tail.size()))));
  const auto shared = std::make_shared<const platform::MappedFile>(std::move(mapped));
  const auto all = shared->bytes();
  // The file was opened twice: what was checked must be what is used.
  if (shared->identity() != stored.part.identity) {
    return Status(StatusCode::kIo,
                  fmt::format("{}: the file was replaced while it was being read; try again", weights.name()));
  }

  platform::Sha256 ir_digest;
  ir_digest.update(ir.xml);
  ir_digest.update(std::as_bytes(std::span(ir.tail.data(), ir.tail.size())));
  const std::string forms_digest =
      fmt::format("{} {}", platform::sha256_hex(std::as_bytes(std::span(onnx))), ir_digest.hex());
  auto digest = digest_source(forms_digest, folder.files.identity(*folder.weights_file), stored.part.where.file,
                              shared->identity());
  // A file of its own may be mapped by a vendor that can only copy from memory.
  const bool alone = stored.part.where.offset == 0 && folder.files.package() == nullptr;
  std::vector<core::ModelForm> forms;
  core::ExternalData external{.location = location, .data = {shared, all.first(file_size)}};
  if (alone) {
    external.file = stored.part.where.file;
    external.identity = shared->identity();
  }
  forms.push_back({.format = core::ModelFormat::kOnnx,
                   .graph = core::SharedBytes::from_string(std::move(onnx)),
                   .external = {std::move(external)}});
  forms.push_back({.format = core::ModelFormat::kOpenvinoIr,
                   .graph = core::SharedBytes::from_string(std::move(ir.xml)),
                   .weights = {shared, all}});
  return GraphModel{.model = core::Model::from_forms(folder.name(), std::move(forms))
                                 .with_sources({source_of(stored)})
                                 .with_digest(std::move(digest)),
                    .pooled = !options.hidden_states,
                    .dimension = folder.bert->hidden_size,
                    .inputs = 2,
                    .output = 0};
}

// From its file, so that data in files beside it is found; from memory in a bundle.
Result<core::Model> onnx_model(const ModelFolder& folder, const StoredFile& stored) {
  if (folder.files.package() == nullptr) return core::Model::from_file(*folder.onnx_file);
  LB_RETURN_IF_ERROR(core::check_onnx_structure(stored.bytes()).with_context(stored.name));
  const core::Model model =
      core::Model::from_forms(folder.name(), {{.format = core::ModelFormat::kOnnx, .graph = stored.part.bytes}})
          .with_sources({source_of(stored)});
  const std::string identity = folder.files.identity(*folder.onnx_file);
  return identity.empty() ? model : model.with_digest(identity);
}

Result<GraphModel> from_onnx_file(const ModelFolder& folder, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(const StoredFile stored, folder.files.open_file(*folder.onnx_file));
  const std::string& name = stored.name;
  LB_ASSIGN_OR_RETURN(const OnnxSignature signature, read_onnx_signature(stored.bytes(), name));
  LB_ASSIGN_OR_RETURN(const OnnxEmbeddingOutput output, choose_embedding_output(signature, name));
  if (options.hidden_states && output.pooled) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: its output '{}' is pooled, it gives no token vectors",
                                                        name, signature.outputs[output.position].name));
  }
  const std::size_t dimension = output.dimension != 0 ? output.dimension : folder.hidden_size;
  if (dimension == 0) {
    return Status(
        StatusCode::kInvalidModel,
        fmt::format("{}: neither the output's shape nor 'hidden_size' in config.json says how long a vector is", name));
  }
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(folder, stored));
  return GraphModel{.model = std::move(model),
                    .pooled = output.pooled,
                    .dimension = dimension,
                    .inputs = signature.inputs,
                    .output = output.position};
}

}  // namespace

namespace {

Result<GraphModel> build_forms(const ModelFolder& folder, const GraphOptions& options) {
  if (folder.weights_file && folder.bert) return from_weights(folder, options);
  if (folder.onnx_file) return from_onnx_file(folder, options);
  return Status(StatusCode::kUnsupported, fmt::format("{}: neither weights of the BERT family nor an ONNX file",
                                                      platform::path_to_utf8(folder.files.place())));
}

}  // namespace

Result<GraphModel> build_model(const ModelFolder& folder, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(GraphModel graph, build_forms(folder, options));
  if (folder.files.package() == nullptr) return graph;
  // The bundle's blobs give what the portable model gives, pooled; token vectors are computed by what is built here.
  if (!options.hidden_states) {
    LB_ASSIGN_OR_RETURN(auto blobs, core::BundleBlobs::of(*folder.files.package()));
    graph.model = graph.model.with_blobs(std::move(blobs));
  }
  const auto large = folder.weights_file && folder.bert ? folder.weights_file : folder.onnx_file;
  graph.model = graph.model.with_check([files = folder.files, large] { return files.check(*large); })
                    .with_proof([files = folder.files, large] { return files.prove(*large); });
  return graph;
}

Status write_onnx_file(const ModelFolder& folder, const GraphOptions& options, const std::filesystem::path& file) {
  if (!folder.weights_file || !folder.bert) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: only models of the BERT family with a model.safetensors can be exported",
                              platform::path_to_utf8(folder.files.place())));
  }
  LB_RETURN_IF_ERROR(folder.files.check(*folder.weights_file));
  StoredFile stored;
  LB_ASSIGN_OR_RETURN(const Safetensors weights, open_weights(folder, stored));
  LB_ASSIGN_OR_RETURN(const Graph graph, make_bert_graph(folder, weights, options));
  LB_ASSIGN_OR_RETURN(platform::OutputFile output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(write_onnx(graph, output));
  return output.commit();
}

}  // namespace latebind::embedding
