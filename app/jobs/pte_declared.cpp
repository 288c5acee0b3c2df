#include "app/jobs/pte_declared.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "core/engine/engine.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::app {

using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

namespace {

// What a graph declares, which is known in full.
Declared built_here(const graph::Graph& network) {
  Declared declared;
  for (const graph::Node& node : network.nodes()) {
    if (const auto* input = std::get_if<graph::Input>(&node.op))
      declared.inputs.push_back({.name = input->name, .type = node.type, .shape = node.shape});
  }
  const graph::Node& output = network.node(network.output());
  declared.outputs.push_back({.name = network.output_name(), .type = output.type, .shape = output.shape});
  return declared;
}

// OpenVINO keeps an unused input when it reads an ONNX file but drops it when it reads the same bytes from memory, as
// it does for a program. A program that passes that input would never run.
Status check_all_used(const core::Model& model, const Runtime& runtime, const Declared& declared) {
  const core::ModelForm* form = model.find(core::ModelFormat::kOnnx);
  if (form == nullptr || form->file.empty()) return {};
  LB_ASSIGN_OR_RETURN(auto opened, platform::MappedFile::open(form->file));
  if (graph::may_name_external_data(opened.bytes())) return {};
  const auto mapped = std::make_shared<const platform::MappedFile>(std::move(opened));
  const auto in_memory = core::Model::from_forms(
      model.name(), {{.format = core::ModelFormat::kOnnx, .graph = {.owner = mapped, .bytes = mapped->bytes()}}});
  LB_ASSIGN_OR_RETURN(const Declared seen, ask_runtime(in_memory, runtime, {}));
  for (const TensorInfo& info : declared.inputs) {
    if (std::ranges::find(seen.inputs, info.name, &TensorInfo::name) != seen.inputs.end()) continue;
    return {StatusCode::kUnsupported, fmt::format("cannot make a program of {}: the model does not use its input '{}', "
                                                  "and OpenVINO drops such inputs; remove it from the model",
                                                  model.name(), info.name)};
  }
  return {};
}

}  // namespace

Result<Declared> ask_runtime(const core::Model& asked, const Runtime& runtime, const std::vector<Shape>& shapes) {
  LB_ASSIGN_OR_RETURN(const auto cpu, core::Placement::parse("cpu", runtime.registry));
  core::LoadOptions load;
  load.compile.input_shapes = shapes;
  load.compile.threads = runtime.load.compile.threads;
  load.shapes = core::ShapeMode::kDynamicShapes;
  auto placed = runtime.engine().load(asked, cpu, load);
  if (!placed.ok()) return placed.status().with_context("asking for the model's inputs and outputs");
  const auto& model = **placed;
  return Declared{{model.inputs().begin(), model.inputs().end()}, {model.outputs().begin(), model.outputs().end()}};
}

Result<Declared> declared_by(const CompileInput& input, const Runtime& runtime) {
  if (is_built_here(input)) return built_here(*input.model.graph()->graph);
  LB_ASSIGN_OR_RETURN(Declared declared, ask_runtime(input.model, runtime, {}));
  LB_RETURN_IF_ERROR(check_all_used(input.model, runtime, declared));
  return declared;
}

}  // namespace latebind::app
