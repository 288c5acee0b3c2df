#include "app/jobs/pte_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "app/shape_text.h"
#include "core/engine.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

// ExecuTorch's sizes are int32.
constexpr std::int64_t kBoundMax = INT32_MAX;

struct Declared {
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
};

// As a CPU's runtime declares them; `shapes`: of the inputs, or none.
Result<Declared> ask(const core::Model& asked, const Runtime& runtime, const std::vector<Shape>& shapes) {
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

// A Graph, of which everything is known.
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

bool is_built_here(const CompileInput& input) {
  return input.model.graph() != nullptr;
}

// OpenVINO keeps an input that nothing uses when it reads an ONNX file, and leaves it out of the same bytes in memory,
// where a program's model is: called with that input, the program would never run.
Status check_all_used(const core::Model& model, const Runtime& runtime, const Declared& declared) {
  const core::ModelForm* form = model.find(core::ModelFormat::kOnnx);
  if (form == nullptr || form->file.empty()) return {};
  LB_ASSIGN_OR_RETURN(auto opened, platform::MappedFile::open(form->file));
  if (graph::may_name_external_data(opened.bytes())) return {};
  const auto mapped = std::make_shared<const platform::MappedFile>(std::move(opened));
  const auto in_memory = core::Model::from_forms(
      model.name(), {{.format = core::ModelFormat::kOnnx, .graph = {.owner = mapped, .bytes = mapped->bytes()}}});
  LB_ASSIGN_OR_RETURN(const Declared seen, ask(in_memory, runtime, {}));
  for (const TensorInfo& info : declared.inputs) {
    if (std::ranges::find(seen.inputs, info.name, &TensorInfo::name) != seen.inputs.end()) continue;
    return {
        StatusCode::kUnsupported,
        fmt::format("no program can be made of {}: nothing in it uses its input '{}', and OpenVINO leaves that out of "
                    "a program's model; take it out of the model",
                    model.name(), info.name)};
  }
  return {};
}

Result<Declared> declared_by(const CompileInput& input, const Runtime& runtime) {
  if (is_built_here(input)) return built_here(*input.model.graph()->graph);
  LB_ASSIGN_OR_RETURN(Declared declared, ask(input.model, runtime, {}));
  LB_RETURN_IF_ERROR(check_all_used(input.model, runtime, declared));
  return declared;
}

// kOk when a model may declare that of what a program calls it with. A dynamic tensor's sizes are upper bounds.
StatusCode misfit_of(const pte::Value& argument, const TensorInfo& info) {
  const auto type = pte::scalar_type_of(static_cast<std::int32_t>(info.type));
  if (!argument.tensor || !type || argument.tensor->type != static_cast<std::int8_t>(*type)) {
    return StatusCode::kTypeMismatch;
  }
  const pte::Tensor& tensor = *argument.tensor;
  if (tensor.sizes.size() != info.shape.rank()) return StatusCode::kShapeMismatch;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (info.shape[i] == core::kDynamic) continue;
    const bool fits =
        tensor.dynamism == pte::Dynamism::kStatic ? info.shape[i] == tensor.sizes[i] : info.shape[i] <= tensor.sizes[i];
    if (!fits) return StatusCode::kShapeMismatch;
  }
  return StatusCode::kOk;
}

// "f32 [1,3]"
std::string text_of(const pte::Value& argument) {
  if (!argument.tensor) return fmt::format("a value of kind '{}'", argument.kind);
  return fmt::format("{} [{}]", pte::type_text(argument.tensor->type), fmt::join(argument.tensor->sizes, ","));
}

// "1x128"; a comma is accepted, too.
Result<Shape> parse_bound(std::string text, const Client& client) {
  std::ranges::replace(text, ',', 'x');
  return parse_shape(client.name("max_shape"), text, 1, kBoundMax);
}

Status no_max_shape(std::string_view text, std::string_view why, const Client& client) {
  return {StatusCode::kInvalidArgument,
          fmt::format("{}: '{}' must be NAME=DIMxDIM..., as in ids=8x256, each DIM from 1 to {}: {}",
                      client.name("max_shape"), text, kBoundMax, why)};
}

using Bounds = std::map<std::size_t, Shape>;  // by position: inputs, then outputs

Result<Bounds> wished(const Declared& declared, const std::vector<std::string>& max_shapes, bool alike,
                      const Client& client) {
  std::vector<TensorInfo> all = declared.inputs;
  all.insert(all.end(), declared.outputs.begin(), declared.outputs.end());
  LB_ASSIGN_OR_RETURN(const auto given, match_by_name(all, "tensor", client.name("max_shape"), max_shapes));
  Bounds bounds;
  for (const auto& [position, text] : given) {
    LB_ASSIGN_OR_RETURN(const Shape shape, parse_bound(text, client));
    if (!all[position].shape.accepts(shape)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: '{}' has the shape {}, which {} does not fit", client.name("max_shape"),
                                all[position].name, all[position].shape.to_string(), shape.to_string()));
    }
    bounds.emplace(position, shape);
  }
  if (alike && !bounds.empty() && bounds.begin()->first < declared.inputs.size()) {
    const Shape first = bounds.begin()->second;
    for (std::size_t i = 0; i < declared.inputs.size(); ++i)
      bounds.emplace(i, first);
  }
  return bounds;
}

// The largest shape of a tensor, or nothing when a dimension of it has no bound.
std::optional<Shape> bounded(const TensorInfo& info) {
  Shape shape = info.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != core::kDynamic) continue;
    if (i >= info.upper.size() || info.upper[i] < 0) return std::nullopt;
    shape[i] = info.upper[i];
  }
  return shape;
}

Status no_bound(std::string_view what, const TensorInfo& info, const Client& client) {
  std::string example;
  for (std::size_t i = 0; i < info.shape.rank(); ++i)
    example += fmt::format("{}{}", i == 0 ? "" : "x", info.shape[i] == core::kDynamic ? 8 : info.shape[i]);
  return {
      StatusCode::kInvalidArgument,
      fmt::format("the {} '{}' has the shape {}, and a program needs an upper bound for each dimension: say it, as in "
                  "{} {}={}",
                  what, info.name, info.shape.to_string(), client.name("max_shape"), info.name, example)};
}

Result<pte::TensorSpec> spec_of(const TensorInfo& info, const Shape& largest) {
  pte::TensorSpec spec;
  spec.name = info.name;
  const auto type = pte::scalar_type_of(static_cast<std::int32_t>(info.type));
  if (!type) {
    return Status(StatusCode::kUnsupported, fmt::format("'{}': ExecuTorch does not know the element type {}", info.name,
                                                        core::name_of(info.type)));
  }
  spec.type = *type;
  spec.is_dynamic = !info.shape.is_static();
  for (const std::int64_t dim : largest.dims()) {
    if (dim > kBoundMax) {
      return Status(StatusCode::kInvalidArgument, fmt::format("'{}': {} is too much for ExecuTorch", info.name, dim));
    }
    spec.sizes.push_back(static_cast<std::int32_t>(dim));
  }
  return spec;
}

Result<std::vector<Shape>> largest_inputs(const CompileInput& input, const Declared& declared, const Bounds& bounds,
                                          const Client& client) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < declared.inputs.size(); ++i) {
    const TensorInfo& info = declared.inputs[i];
    const Shape text{kPteTexts, static_cast<std::int64_t>(input.longest)};
    if (const auto found = bounds.find(i); found != bounds.end()) {
      shapes.push_back(found->second);
    } else if (const auto shape = bounded(info)) {
      shapes.push_back(*shape);
    } else if (input.folder && info.shape.accepts(text)) {
      shapes.push_back(text);
    } else {
      return no_bound("input", info, client);
    }
  }
  return shapes;
}

Result<std::vector<Shape>> largest_outputs(const CompileInput& input, const Runtime& runtime, const Declared& declared,
                                           const Bounds& bounds, const std::vector<Shape>& inputs,
                                           const Client& client) {
  std::vector<TensorInfo> outputs = declared.outputs;
  if (is_built_here(input)) {
    outputs.front().shape[0] = inputs.front()[0];
  } else if (!std::ranges::all_of(declared.inputs, [](const auto& info) { return info.shape.is_static(); })) {
    LB_ASSIGN_OR_RETURN(const Declared fixed, ask(input.model, runtime, inputs));
    outputs = fixed.outputs;
  }
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < declared.outputs.size(); ++i) {
    if (const auto found = bounds.find(declared.inputs.size() + i); found != bounds.end()) {
      shapes.push_back(found->second);
    } else if (const auto shape = i < outputs.size() ? bounded(outputs[i]) : std::nullopt) {
      shapes.push_back(*shape);
    } else {
      return no_bound("output", declared.outputs[i], client);
    }
  }
  return shapes;
}

}  // namespace

Status check_max_shapes(const std::vector<std::string>& max_shapes, const Client& client) {
  std::set<std::string> names;
  for (const std::string& text : max_shapes) {
    // A name may hold '=' itself, its bounds cannot.
    const auto equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0) return no_max_shape(text, "NAME= is missing", client);
    const auto bound = parse_bound(text.substr(equals + 1), client);
    if (!bound.ok()) return no_max_shape(text, bound.status().message(), client);
    if (!names.insert(text.substr(0, equals)).second) return no_max_shape(text, "the name is given twice", client);
  }
  return {};
}

Status check_call(const CompileInput& input, const Runtime& runtime, const std::vector<pte::Value>& arguments,
                  const Client& client) {
  LB_ASSIGN_OR_RETURN(const Declared declared, declared_by(input, runtime));
  const std::size_t inputs = declared.inputs.size();
  if (arguments.size() != inputs + declared.outputs.size()) {
    return {StatusCode::kCountMismatch,
            fmt::format("its delegate is called with {} tensors, and the model of {} has {} inputs and {} outputs",
                        arguments.size(), client.name("program_model"), inputs, declared.outputs.size())};
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_input = i < inputs;
    const TensorInfo& info = is_input ? declared.inputs[i] : declared.outputs[i - inputs];
    const StatusCode misfit = misfit_of(arguments[i], info);
    if (misfit == StatusCode::kOk) continue;
    return {misfit, fmt::format("its delegate is called with {} as {} {}, which in the model of {} is '{}', {} {}",
                                text_of(arguments[i]), is_input ? "input" : "output", is_input ? i : i - inputs,
                                client.name("program_model"), core::printable(info.name), core::name_of(info.type),
                                info.shape.to_string())};
  }
  return {};
}

Result<PteSignature> pte_signature(const CompileInput& input, const Runtime& runtime,
                                   const std::vector<std::string>& max_shapes, const Client& client) {
  LB_ASSIGN_OR_RETURN(const Declared declared, declared_by(input, runtime));
  LB_ASSIGN_OR_RETURN(const Bounds bounds, wished(declared, max_shapes, input.folder.has_value(), client));
  LB_ASSIGN_OR_RETURN(const auto inputs, largest_inputs(input, declared, bounds, client));
  if (is_built_here(input)) {
    for (const Shape& shape : inputs) {
      if (!(shape == inputs.front())) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}: ids and mask need one shape, these are {} and {}", client.name("max_shape"),
                                  inputs.front().to_string(), shape.to_string()));
      }
      if (shape[1] > static_cast<std::int64_t>(input.longest)) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}: the model takes {} tokens, this is {}", client.name("max_shape"), input.longest,
                                  shape.to_string()));
      }
    }
  }
  LB_ASSIGN_OR_RETURN(const auto outputs, largest_outputs(input, runtime, declared, bounds, inputs, client));
  PteSignature signature;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    LB_ASSIGN_OR_RETURN(auto spec, spec_of(declared.inputs[i], inputs[i]));
    signature.inputs.push_back(std::move(spec));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    LB_ASSIGN_OR_RETURN(auto spec, spec_of(declared.outputs[i], outputs[i]));
    signature.outputs.push_back(std::move(spec));
  }
  return signature;
}

}  // namespace latebind::app
