#include "embedding/build_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/bundle/bundle_model.h"
#include "core/bundle/choose.h"
#include "core/graph/onnx_reader.h"
#include "core/graph/onnx_structure.h"
#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tables/model2vec.h"
#include "embedding/weights/adapters/merge_adapter.h"
#include "embedding/weights/adapters/task_weights.h"
#include "embedding/weights/auto_encoder.h"
#include "embedding/weights/model_weights.h"
#include "embedding/weights/open_tensors.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

core::SourceFile source_of(const StoredFile& stored) {
  return {.file = stored.part.where.file, .identity = stored.part.identity, .mapped = true};
}

// The requested outputs, and how they are computed.
struct Plan {
  OutputList outputs;
  // Outputs are computed from the token vectors if they can be.
  bool from_states = false;
};

Result<Plan> plan_of(const Specification& model, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(OutputList outputs, model.find_outputs(options.outputs));
  const bool from_states = std::ranges::any_of(outputs, [&](const auto& output) {
    const NetworkEnd end = output->end(false);
    // Vectors of tokens beside vectors of texts: `native` computes nothing of the tokens after the network has pooled.
    const bool is_beside = end.token_vectors && outputs.size() > 1;
    return end.hidden_states || is_beside || (options.pools_here && output->pools_here());
  });
  return Plan{.outputs = std::move(outputs), .from_states = from_states};
}

// The distinct ends of the network, and the end that each output takes.
struct Ends {
  std::vector<NetworkEnd> ends;
  std::vector<std::size_t> of_output;
};

Ends ends_of(const Plan& plan) {
  Ends found;
  std::optional<std::size_t> states;
  for (const auto& output : plan.outputs) {
    NetworkEnd end = output->end(plan.from_states);
    const bool is_known = end.hidden_states && states;
    found.of_output.push_back(is_known ? *states : found.ends.size());
    if (end.hidden_states && !states) states = found.ends.size();
    if (!is_known) found.ends.push_back(std::move(end));
  }
  return found;
}

Result<graph::Graph> read_graph(const Specification& model, std::vector<NetworkEnd> ends) {
  ModelWeights weights;
  std::optional<core::FilePart> first;
  for (const WeightsFile& file : model.network.weights) {
    LB_ASSIGN_OR_RETURN(StoredFile stored, model.files.open_file(file.file));
    if (!first) first = stored.part;
    LB_ASSIGN_OR_RETURN(TensorFile tensors, open_tensors(std::move(stored.part), stored.name, &*first));
    if (model.network.is_static && !model.network.has_words && file.place.empty()) {
      LB_ASSIGN_OR_RETURN(const bool is_compressed, is_compressed_table(tensors));
      if (is_compressed) {
        LB_ASSIGN_OR_RETURN(tensors, written_out(tensors));
      }
    }
    if (file.of_auto_encoder) {
      LB_ASSIGN_OR_RETURN(tensors, linear_of_auto_encoder(tensors));
    }
    LB_RETURN_IF_ERROR(weights.add(std::move(tensors), file.place));
  }
  if (const auto& adapter = model.network.adapter) {
    LB_ASSIGN_OR_RETURN(StoredFile stored, model.files.open_file(adapter->weights));
    LB_ASSIGN_OR_RETURN(const TensorFile tensors, open_tensors(std::move(stored.part), stored.name));
    LB_RETURN_IF_ERROR(merge_adapter(tensors, adapter->config, weights));
  }
  if (!model.network.tasks.empty()) {
    std::vector<TaskAdapterFile> adapters;
    for (const TaskAdapter& task : model.network.tasks) {
      LB_ASSIGN_OR_RETURN(StoredFile stored, model.files.open_file(task.adapter.weights));
      LB_ASSIGN_OR_RETURN(TensorFile tensors, open_tensors(std::move(stored.part), stored.name));
      adapters.push_back({&task.adapter.config, std::move(tensors)});
    }
    LB_RETURN_IF_ERROR(add_task_adapters(adapters, weights));
  }
  const auto& roles = model.input.roles;
  return model.network.network->make_graph(weights, {.ends = std::move(ends),
                                                     .token_types = model.input.token_types,
                                                     .may_be_unattended = roles && roles->fills_unattended()});
}

Result<graph::Graph> graph_of(const Specification& model, std::vector<NetworkEnd> ends) {
  auto graph = read_graph(model, std::move(ends));
  if (!graph.ok()) return model.files.in_its_terms(graph.status());
  return graph;
}

Result<GraphModel> from_weights(const Specification& model, Plan plan) {
  Ends ends = ends_of(plan);
  LB_ASSIGN_OR_RETURN(graph::Graph made, graph_of(model, std::move(ends.ends)));
  std::vector<ModelEnd> of_outputs;
  for (const std::size_t position : ends.of_output) {
    const core::Shape& shape = made.node(made.outputs()[position].value).shape;
    of_outputs.push_back({.position = position,
                          .pooled = shape.rank() == 2,
                          .dimension = static_cast<std::size_t>(shape[shape.rank() - 1])});
  }
  const auto inputs = std::ranges::count_if(
      made.nodes(), [](const graph::Node& node) { return std::holds_alternative<graph::Input>(node.op); });
  const auto& weights = model.network.weights;
  core::ModelGraph network;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::filesystem::path& file = weights[i].file;
    network.sources.push_back({.name = weights.size() == 1 && !model.network.adapter
                                           ? platform::path_to_utf8(file.filename())
                                           : model.files.relative(file),
                               .identity = model.files.identity(file)});
  }
  // Tensors that were copied from a file or computed in memory are parts without a file. Tensors that are computed when
  // they are read depend on their file.
  while (network.sources.size() < made.weights().size()) {
    const bool is_computed = made.weights()[network.sources.size()].computed != nullptr;
    network.sources.push_back({.name = fmt::format("copied_{}.bin", network.sources.size()),
                               .identity = is_computed ? "computed from the other files" : ""});
  }
  network.graph = std::make_shared<const graph::Graph>(std::move(made));
  const auto& roles = model.input.roles;
  return GraphModel{.model = core::Model::from_graph(model.name(), std::move(network)),
                    .outputs = std::move(plan.outputs),
                    .ends = std::move(of_outputs),
                    .inputs = static_cast<std::size_t>(inputs),
                    .may_be_unattended = roles && roles->fills_unattended()};
}

// Loads the model from its file, so that external data beside it is found; from memory if it is in a bundle.
Result<core::Model> onnx_model(const Specification& spec, const StoredFile& stored) {
  if (spec.files.package() == nullptr) return core::Model::from_file(*spec.network.onnx_file);
  LB_RETURN_IF_ERROR(graph::check_onnx_structure(stored.bytes()).with_context(stored.name));
  const core::Model model =
      core::Model::from_forms(spec.name(), {{.format = core::ModelFormat::kOnnx, .graph = stored.part.bytes}})
          .with_sources({source_of(stored)});
  const std::string identity = spec.files.identity(*spec.network.onnx_file);
  return identity.empty() ? model : model.with_digest(identity);
}

Result<GraphModel> from_onnx_file(const Specification& spec, Plan plan) {
  LB_ASSIGN_OR_RETURN(const StoredFile stored, spec.files.open_file(*spec.network.onnx_file));
  LB_ASSIGN_OR_RETURN(const graph::OnnxSignature signature, graph::read_onnx_signature(stored.bytes(), stored.name));
  std::vector<ModelEnd> ends;
  for (const auto& output : plan.outputs) {
    LB_ASSIGN_OR_RETURN(
        ends.emplace_back(),
        output->find_end({.name = stored.name, .signature = signature, .network = spec.network}, plan.from_states));
  }
  LB_ASSIGN_OR_RETURN(core::Model model, onnx_model(spec, stored));
  return GraphModel{.model = std::move(model),
                    .outputs = std::move(plan.outputs),
                    .ends = std::move(ends),
                    .inputs = signature.inputs.size()};
}

Status no_network(const Specification& model) {
  return {StatusCode::kUnsupported,
          fmt::format("{} has no network: its weights are a table, which no device computes", model.name())};
}

Result<GraphModel> build_either(const Specification& model, Plan plan) {
  if (model.network.term_table != nullptr) return no_network(model);
  if (!model.network.weights.empty()) return from_weights(model, std::move(plan));
  if (model.network.onnx_file) return from_onnx_file(model, std::move(plan));
  return Status(StatusCode::kUnsupported,
                fmt::format("{}: neither weights of a known architecture nor an ONNX file{}",
                            platform::path_to_utf8(model.files.place()), known_architectures({})));
}

// Checks that a portable ONNX file declares the same inputs and outputs as the graph: the author of the bundle may have
// exported another network than the one in config.json.
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
  LB_ASSIGN_OR_RETURN(const ModelFiles files, ModelFiles::of(package));
  LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::of(files));
  if (folder.documents().network.weights.empty()) {
    return Status(StatusCode::kUnsupported, "its weights are of no architecture that is known here");
  }
  LB_ASSIGN_OR_RETURN(GraphModel made, build_model(folder.documents()));
  LB_ASSIGN_OR_RETURN(const core::SharedBytes onnx, package.open_file(portable, core::model_file_of(portable)));
  LB_ASSIGN_OR_RETURN(const auto signature, graph::read_onnx_signature(onnx.bytes, package.files().name()));
  LB_RETURN_IF_ERROR(check_same_tensors(*made.model.graph()->graph, signature));
  return std::move(made.model);
}

}  // namespace

Result<graph::Graph> make_graph(const Specification& model, const GraphOptions& options) {
  if (model.network.term_table != nullptr) return no_network(model);
  if (model.network.weights.empty()) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: only weights of a known architecture become a graph{}",
                              platform::path_to_utf8(model.files.place()), known_architectures({})));
  }
  LB_ASSIGN_OR_RETURN(const Plan plan, plan_of(model, options));
  return graph_of(model, ends_of(plan).ends);
}

Result<GraphModel> build_model(const Specification& model, const GraphOptions& options) {
  LB_ASSIGN_OR_RETURN(Plan plan, plan_of(model, options));
  // The bundle's blobs compute the same as the portable model: the model's own output, pooled by the network.
  const bool is_portable = !plan.from_states && plan.outputs == OutputList{model.outputs.front()};
  LB_ASSIGN_OR_RETURN(GraphModel graph, build_either(model, std::move(plan)));
  if (!model.network.weights.empty() || !graph.is_pooled()) graph.assumed = model.assumed;
  if (model.files.package() == nullptr) return graph;
  if (is_portable) {
    LB_ASSIGN_OR_RETURN(auto blobs, core::BundleBlobs::of(*model.files.package()));
    graph.model = graph.model.with_blobs(std::move(blobs));
  }
  const auto of_all = [files = model.files, large = model.large_files()](auto check) {
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
    // A later release may have written what is unknown here; vendors can still run its ONNX file.
    const StatusCode code = made.status().code();
    if (made.ok() || (code != StatusCode::kUnsupported && code != StatusCode::kNotFound)) return made;
    core::log(core::LogLevel::kInfo, fmt::format("{}: only vendors' runtimes can run it: {}", package.files().name(),
                                                 made.status().to_string()));
  }
  return core::model_of_bundle(package);
}

}  // namespace latebind::embedding
