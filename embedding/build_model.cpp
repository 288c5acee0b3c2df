#include "embedding/build_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_structure.h"
#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/model2vec.h"
#include "embedding/model_weights.h"
#include "embedding/onnx_output.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

core::SourceFile source_of(const StoredFile& stored) {
  return {.file = stored.part.where.file, .identity = stored.part.identity, .mapped = true};
}

// Whether queries are filled up with what nothing attends to.
bool fills_unattended(const ModelFolder& folder) {
  const auto& expansion = folder.multi_vector.query.expansion;
  return folder.kind == EncoderKind::kMultiVectorEncoder && expansion && !expansion->attend;
}

Result<GraphModel> from_weights(const ModelFolder& folder, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(graph::Graph made, make_graph(folder, options));
  const core::Shape output = made.node(made.output()).shape;
  const auto inputs = std::ranges::count_if(
      made.nodes(), [](const graph::Node& node) { return std::holds_alternative<graph::Input>(node.op); });
  core::ModelGraph network;
  for (std::size_t i = 0; i < folder.weights.size(); ++i) {
    const std::filesystem::path& file = folder.weights[i].file;
    network.sources.push_back(
        {.name = folder.weights.size() == 1 ? platform::path_to_utf8(file.filename()) : folder.files.relative(file),
         .identity = folder.files.identity(file)});
  }
  network.graph = std::make_shared<const graph::Graph>(std::move(made));
  GraphModel model{.model = core::Model::from_graph(folder.name(), std::move(network))};
  model.pooled = !options.hidden_states && !folder.sparse.sums && folder.kind != EncoderKind::kMultiVectorEncoder;
  model.may_be_unattended = !model.pooled && fills_unattended(folder);
  model.dimension = static_cast<std::size_t>(output[output.rank() - 1]);
  model.inputs = static_cast<std::size_t>(inputs);
  return model;
}

// From its file, so that data in files beside it is found; from memory in a bundle.
Result<core::Model> onnx_model(const ModelFolder& folder, const StoredFile& stored) {
  if (folder.files.package() == nullptr) return core::Model::from_file(*folder.onnx_file);
  LB_RETURN_IF_ERROR(graph::check_onnx_structure(stored.bytes()).with_context(stored.name));
  const core::Model model =
      core::Model::from_forms(folder.name(), {{.format = core::ModelFormat::kOnnx, .graph = stored.part.bytes}})
          .with_sources({source_of(stored)});
  const std::string identity = folder.files.identity(*folder.onnx_file);
  return identity.empty() ? model : model.with_digest(identity);
}

// A cross-encoder's: its output has a number for each label.
Result<GraphModel> scores_from_onnx_file(const ModelFolder& folder, const StoredFile& stored,
                                         const graph::OnnxSignature& signature) {
  LB_ASSIGN_OR_RETURN(const std::size_t output, choose_logits_output(signature, stored.name, 2, "[batch, labels]"));
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(folder, stored));
  return GraphModel{.model = std::move(model),
                    .pooled = true,
                    .dimension = folder.scores.labels.size(),
                    .inputs = signature.inputs.size(),
                    .output = output};
}

// A sparse encoder's: its output has a number for each token and entry of the vocabulary or, as export_onnx.h writes
// it, the largest one of each text.
Result<GraphModel> terms_from_onnx_file(const ModelFolder& folder, const StoredFile& stored,
                                        const graph::OnnxSignature& signature) {
  const bool pooled = signature.outputs.size() == 1 && signature.outputs.front().name == kTermLogits;
  LB_ASSIGN_OR_RETURN(
      const std::size_t output,
      pooled ? Result<std::size_t>(0) : choose_logits_output(signature, stored.name, 3, "[batch, tokens, vocabulary]"));
  if (pooled && folder.sparse.sums) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: its output '{}' is the largest number of all tokens, of "
                                                        "which 'pooling_strategy' sum needs each",
                                                        stored.name, kTermLogits));
  }
  const auto& tensor = signature.outputs[output];
  const std::int64_t declared = tensor.has_shape ? tensor.shape.back() : core::kDynamic;
  const std::size_t known = folder.network ? folder.network->vocabulary_size() : 0;
  if (declared <= 0 && known == 0) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: its output '{}' does not say how many entries the "
                                                         "vocabulary has",
                                                         stored.name, core::printable(tensor.name)));
  }
  if (declared > 0 && known > 0 && static_cast<std::size_t>(declared) != known) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: its output '{}' has {} numbers for a token; the vocabulary has {} entries",
                              stored.name, core::printable(tensor.name), declared, known));
  }
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(folder, stored));
  return GraphModel{.model = std::move(model),
                    .pooled = pooled,
                    .dimension = declared > 0 ? static_cast<std::size_t>(declared) : known,
                    .inputs = signature.inputs.size(),
                    .output = output};
}

// A multi-vector encoder's: its output has each token's vector as it is wanted, but for its length.
Result<GraphModel> token_vectors_from_onnx_file(const ModelFolder& folder, const StoredFile& stored,
                                                const graph::OnnxSignature& signature) {
  LB_ASSIGN_OR_RETURN(const OnnxEmbeddingOutput output, choose_embedding_output(signature, stored.name));
  const std::string shown = core::printable(signature.outputs[output.position].name);
  if (output.pooled) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: its output '{}' is pooled, it gives no token vectors", stored.name, shown));
  }
  const std::size_t wanted = folder.is_stanford() ? 0 : folder.dimension();
  const bool projects = !folder.behind_pooling.empty() || folder.is_stanford();
  const std::size_t dimension = output.dimension != 0 ? output.dimension : wanted;
  if (dimension == 0 || (projects && shown == "last_hidden_state")) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: its output '{}' is the network's, and a projection of each token's vector is to "
                              "follow: that is supported with model.safetensors alone, or with a file that has it",
                              stored.name, shown));
  }
  if (wanted != 0 && dimension != wanted) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: its output '{}' has {} numbers for a token; {} are due",
                                                         stored.name, shown, dimension, wanted));
  }
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(folder, stored));
  return GraphModel{
      .model = std::move(model), .dimension = dimension, .inputs = signature.inputs.size(), .output = output.position};
}

Result<GraphModel> from_onnx_file(const ModelFolder& folder, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(const StoredFile stored, folder.files.open_file(*folder.onnx_file));
  const std::string& name = stored.name;
  LB_ASSIGN_OR_RETURN(const graph::OnnxSignature signature, graph::read_onnx_signature(stored.bytes(), name));
  if (folder.kind == EncoderKind::kMultiVectorEncoder && !options.hidden_states) {
    return token_vectors_from_onnx_file(folder, stored, signature);
  }
  if (!folder.behind_pooling.empty() && !options.hidden_states) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: modules with weights behind pooling are supported with the network's "
                              "model.safetensors alone",
                              name));
  }
  if (folder.kind == EncoderKind::kCrossEncoder) return scores_from_onnx_file(folder, stored, signature);
  if (folder.kind == EncoderKind::kSparseEncoder) return terms_from_onnx_file(folder, stored, signature);
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
  // A text's own vector may have gone through what makes it shorter; a token's is the network's.
  if (!output.pooled && folder.hidden_size != 0 && dimension != folder.hidden_size) {
    return Status(
        StatusCode::kInvalidModel,
        fmt::format("{}: its output '{}' has {} numbers for a token; config.json or the pooling's says {}", name,
                    core::printable(signature.outputs[output.position].name), dimension, folder.hidden_size));
  }
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(folder, stored));
  return GraphModel{.model = std::move(model),
                    .pooled = output.pooled,
                    .dimension = dimension,
                    .inputs = signature.inputs.size(),
                    .output = output.position};
}

Status no_network(const ModelFolder& folder) {
  return {StatusCode::kUnsupported,
          fmt::format("{} has no network: its weights are a table, which no device computes", folder.name())};
}

Result<GraphModel> build_either(const ModelFolder& folder, const GraphOptions& options) {
  if (folder.term_table != nullptr) return no_network(folder);
  if (!folder.weights.empty()) return from_weights(folder, options);
  if (folder.onnx_file) return from_onnx_file(folder, options);
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: neither weights of a known architecture nor an ONNX file{}",
                            platform::path_to_utf8(folder.files.place()), known_architectures({})));
}

// Whether a portable ONNX file declares what the graph does: who wrote the bundle may have exported another network
// than the one that config.json describes.
Status check_same_tensors(const graph::Graph& graph, const graph::OnnxSignature& onnx) {
  std::vector<const graph::Input*> inputs;
  for (const graph::Node& node : graph.nodes()) {
    if (const auto* input = std::get_if<graph::Input>(&node.op)) inputs.push_back(input);
  }
  const auto is_same = [](const graph::OnnxTensor& tensor, const std::string& name, const core::Shape& shape) {
    return tensor.name == name && (!tensor.has_shape || std::ranges::equal(tensor.shape, shape.dims()));
  };
  const bool same_inputs = std::ranges::equal(onnx.inputs, inputs, [&](const auto& tensor, const auto* input) {
    return is_same(tensor, input->name, input->shape);
  });
  const core::Shape& output = graph.node(graph.output()).shape;
  if (same_inputs && onnx.outputs.size() == 1 && is_same(onnx.outputs.front(), graph.output_name(), output)) return {};
  return {StatusCode::kUnsupported,
          "its portable model has other inputs or outputs than the network of its config.json and weights"};
}

Result<core::Model> graph_of_bundle(const core::Package& package, const core::Variant& portable) {
  LB_ASSIGN_OR_RETURN(ModelFiles files, ModelFiles::of(package));
  LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::of(std::move(files)));
  if (folder.weights.empty()) {
    return Status(StatusCode::kUnsupported, "its weights are of no architecture that is known here");
  }
  LB_ASSIGN_OR_RETURN(GraphModel made, build_model(folder, {}));
  LB_ASSIGN_OR_RETURN(const core::SharedBytes onnx, package.open_file(portable, core::model_file_of(portable)));
  LB_ASSIGN_OR_RETURN(const auto signature, graph::read_onnx_signature(onnx.bytes, package.files().name()));
  LB_RETURN_IF_ERROR(check_same_tensors(*made.model.graph()->graph, signature));
  return std::move(made.model);
}

}  // namespace

Result<graph::Graph> make_graph(const ModelFolder& folder, const GraphOptions& options) {
  if (folder.term_table != nullptr) return no_network(folder);
  if (folder.weights.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: only a model.safetensors of a known architecture becomes a graph{}",
                              platform::path_to_utf8(folder.files.place()), known_architectures({})));
  }
  ModelWeights weights;
  for (const WeightsFile& file : folder.weights) {
    LB_ASSIGN_OR_RETURN(StoredFile stored, folder.files.open_file(file.file));
    LB_ASSIGN_OR_RETURN(Safetensors tensors, Safetensors::from_part(std::move(stored.part), stored.name));
    if (folder.is_static && file.place.empty()) {
      LB_ASSIGN_OR_RETURN(const bool is_compressed, is_compressed_table(tensors));
      if (is_compressed) {
        LB_ASSIGN_OR_RETURN(tensors, written_out(tensors));
      }
    }
    LB_RETURN_IF_ERROR(weights.add(std::move(tensors), file.place));
  }
  return folder.network->make_graph(weights, {.hidden_states = options.hidden_states,
                                              .token_vectors = folder.kind == EncoderKind::kMultiVectorEncoder,
                                              .may_be_unattended = fills_unattended(folder),
                                              .token_types = folder.token_types,
                                              .classifier = folder.classifier,
                                              .vocabulary = folder.vocabulary,
                                              .terms_of_tokens = folder.sparse.sums,
                                              .pooling = folder.pooling,
                                              .modules = folder.behind_pooling,
                                              .normalize = folder.normalize});
}

Result<GraphModel> build_model(const ModelFolder& folder, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(GraphModel graph, build_either(folder, options));
  if (!folder.weights.empty() || !graph.pooled) graph.assumed = folder.assumed;
  if (folder.files.package() == nullptr) return graph;
  // The bundle's blobs return what the portable model returns, pooled; token vectors are computed by the model built
  // here.
  if (!options.hidden_states) {
    LB_ASSIGN_OR_RETURN(auto blobs, core::BundleBlobs::of(*folder.files.package()));
    graph.model = graph.model.with_blobs(std::move(blobs));
  }
  const auto of_all = [files = folder.files, large = folder.large_files()](auto check) {
    return [files, large, check]() -> Status {
      for (const std::filesystem::path& file : large)
        LB_RETURN_IF_ERROR((files.*check)(file));
      return {};
    };
  };
  graph.model = graph.model.with_check(of_all(&ModelFiles::check)).with_proof(of_all(&ModelFiles::prove));
  return graph;
}

Result<core::Model> model_of_bundle(const core::Package& package) {
  LB_ASSIGN_OR_RETURN(const core::Component* component, core::model_component(package));
  const core::Variant* portable = core::portable_variant(*component);
  const bool carries_weights = portable != nullptr && portable->latebind &&
                               portable->latebind->assets.contains(core::kModelFolderRole) &&
                               portable->latebind->assets.contains(kWeightsRole);
  if (carries_weights) {
    auto made = graph_of_bundle(package, *portable);
    // What is not known here, a later release may have written: vendors run its ONNX file all the same.
    const StatusCode code = made.status().code();
    if (made.ok() || (code != StatusCode::kUnsupported && code != StatusCode::kNotFound)) return made;
    core::log(core::LogLevel::kInfo, fmt::format("{}: only vendors' runtimes can run it: {}", package.files().name(),
                                                 made.status().to_string()));
  }
  return core::model_of_bundle(package);
}

}  // namespace latebind::embedding
