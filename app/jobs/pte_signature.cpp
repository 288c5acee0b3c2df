#include "app/jobs/pte_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "app/jobs/pte_declared.h"
#include "app/shape_text.h"
#include "core/text/quote.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorInfo;

// ExecuTorch stores sizes as int32.
constexpr std::int64_t kBoundMax = INT32_MAX;

// Whether `shape` exceeds a bound that the model declares.
bool is_above(const Shape& shape, std::span<const std::int64_t> upper) {
  for (std::size_t i = 0; i < std::min(shape.rank(), upper.size()); ++i) {
    if (upper[i] >= 0 && shape[i] > upper[i]) return true;
  }
  return false;
}

// "[?,3]", or "[up to 8,3]" if the model declares a bound.
std::string text_of(const TensorInfo& info) {
  std::vector<std::string> dims;
  for (std::size_t i = 0; i < info.shape.rank(); ++i) {
    const std::int64_t dim = info.shape[i];
    const bool is_bounded = dim == core::kDynamic && i < info.upper.size() && info.upper[i] >= 0;
    dims.push_back(dim != core::kDynamic ? std::to_string(dim)
                   : is_bounded          ? fmt::format("up to {}", info.upper[i])
                                         : std::string("?"));
  }
  return fmt::format("[{}]", fmt::join(dims, ","));
}

// Returns kOk if a model may declare `info` for an argument of the program. A dynamic tensor's sizes are upper bounds.
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

// Parses "1x128"; also accepts commas.
Result<Shape> parse_bound(std::string text, const Client& client) {
  std::ranges::replace(text, ',', 'x');
  return parse_shape(client.name("max_shape"), text, 1, kBoundMax);
}

Status no_max_shape(std::string_view text, std::string_view why, const Client& client) {
  return {StatusCode::kInvalidArgument,
          fmt::format("{}: '{}' must be NAME=DIMxDIM..., such as ids=8x256, each DIM from 1 to {}: {}",
                      client.name("max_shape"), text, kBoundMax, why)};
}

std::string only_option(const Client& client) {
  return fmt::format("{} input_shapes", client.name("compile_spec"));
}

// For a delegate that compiles for fixed shapes: what the model declares with these shapes.
Result<Declared> declared_only(const CompileInput& input, const Runtime& runtime, Declared declared,
                               const std::vector<Shape>& only, const Client& client) {
  const std::string option = only_option(client);
  if (only.size() != declared.inputs.size()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} has {} shapes, but the model has {} inputs", option,
                                                            only.size(), declared.inputs.size()));
  }
  for (std::size_t i = 0; i < only.size(); ++i) {
    TensorInfo& info = declared.inputs[i];
    if (!info.shape.accepts(only[i]) || is_above(only[i], info.upper)) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{}: '{}' has the shape {}, which {} does not fit",
                                                              option, info.name, text_of(info), only[i].to_string()));
    }
    info.shape = only[i];
  }
  if (is_built_here(input)) {
    declared.outputs.front().shape[0] = only.front()[0];
    return declared;
  }
  auto fixed = ask_runtime(input.model, runtime, only);
  if (!fixed.ok()) return fixed.status().with_context(option);
  return fixed;
}

using Bounds = std::map<std::size_t, Shape>;  // by position: inputs, then outputs

// With `only`, the declared shapes are those that the delegate compiles for.
Result<Bounds> requested_bounds(const Declared& declared, const std::vector<std::string>& max_shapes, bool alike,
                                bool only, const Client& client) {
  std::vector<TensorInfo> all = declared.inputs;
  all.insert(all.end(), declared.outputs.begin(), declared.outputs.end());
  LB_ASSIGN_OR_RETURN(const auto given, match_by_name(all, "tensor", client.name("max_shape"), max_shapes));
  Bounds bounds;
  for (const auto& [position, text] : given) {
    LB_ASSIGN_OR_RETURN(const Shape shape, parse_bound(text, client));
    const TensorInfo& info = all[position];
    if (!info.shape.accepts(shape) || is_above(shape, info.upper)) {
      const bool contradicts = only && position < declared.inputs.size();
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: '{}' has the shape {}{}, which {} does not fit{}", client.name("max_shape"),
                                info.name, text_of(info), contradicts ? " by " + only_option(client) : "",
                                shape.to_string(), contradicts ? ": leave one of them out" : ""));
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

// ExecuTorch bounds the elements of a tensor, not each dimension.
bool has_room(const Shape& room, const Shape& shape) {
  const auto needed = shape.element_count();
  const auto there = room.element_count();
  return needed.ok() && there.ok() && *needed <= *there;
}

// The largest shape of a tensor, or std::nullopt if a dimension has no bound.
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
  return {StatusCode::kInvalidArgument,
          fmt::format("the {} '{}' has the shape {}, but a program needs an upper bound for each dimension: give it, "
                      "as in {} {}={}",
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
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("'{}': {} exceeds the limits of ExecuTorch", info.name, dim));
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
    const auto fixed = ask_runtime(input.model, runtime, inputs);
    if (!fixed.ok()) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        texts.push_back(fmt::format("{}={}", declared.inputs[i].name, shape_text(inputs[i])));
      return fixed.status().with_context(fmt::format("with the largest inputs, {}", fmt::join(texts, " ")));
    }
    outputs = fixed->outputs;
  }
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < declared.outputs.size(); ++i) {
    const auto shape = i < outputs.size() ? bounded(outputs[i]) : std::nullopt;
    if (const auto found = bounds.find(declared.inputs.size() + i); found != bounds.end()) {
      if (shape && !has_room(found->second, *shape)) {
        return Status(
            StatusCode::kInvalidArgument,
            fmt::format("{}: '{}' has the shape {} when the inputs are at their largest, which does not fit {}",
                        client.name("max_shape"), declared.outputs[i].name, shape->to_string(),
                        found->second.to_string()));
      }
      shapes.push_back(found->second);
    } else if (shape) {
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
    // Names may contain '=', bounds cannot.
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
            fmt::format("its delegate is called with {} tensors, but the model of {} has {} inputs and {} outputs",
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
                                   const std::vector<std::string>& max_shapes, const std::vector<Shape>& only,
                                   const Client& client) {
  LB_ASSIGN_OR_RETURN(Declared declared, declared_by(input, runtime));
  if (!only.empty()) {
    LB_ASSIGN_OR_RETURN(declared, declared_only(input, runtime, std::move(declared), only, client));
  }
  LB_ASSIGN_OR_RETURN(const Bounds bounds,
                      requested_bounds(declared, max_shapes, input.folder.has_value(), !only.empty(), client));
  LB_ASSIGN_OR_RETURN(const auto inputs, largest_inputs(input, declared, bounds, client));
  if (is_built_here(input)) {
    const std::string option = only.empty() ? client.name("max_shape") : only_option(client);
    for (const Shape& shape : inputs) {
      if (!(shape == inputs.front())) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{}: ids and mask must have the same shape, not {} and {}", option,
                                  inputs.front().to_string(), shape.to_string()));
      }
      if (shape[1] > static_cast<std::int64_t>(input.longest)) {
        return Status(StatusCode::kInvalidArgument, fmt::format("{}: the model takes at most {} tokens, not {}", option,
                                                                input.longest, shape.to_string()));
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

Status check_variants(const CompileInput& input, std::span<const core::CompileJob> jobs, const PteSignature& signature,
                      const Client& client) {
  if (input.folder) return {};
  for (const core::CompileJob& job : jobs) {
    const std::size_t count = std::min(job.options.input_shapes.size(), signature.inputs.size());
    for (std::size_t i = 0; i < count; ++i) {
      const pte::TensorSpec& spec = signature.inputs[i];
      LB_ASSIGN_OR_RETURN(const Shape room,
                          Shape::make(std::vector<std::int64_t>(spec.sizes.begin(), spec.sizes.end())));
      const Shape& shape = job.options.input_shapes[i];
      if (spec.is_dynamic ? has_room(room, shape) : shape == room) continue;
      return {StatusCode::kInvalidArgument,
              fmt::format("{} {}: the program never calls {} with it: its input '{}' {} {}", client.name("shapes"),
                          shape_text(shape), core::variant_name(job), core::printable(spec.name),
                          spec.is_dynamic ? "has room for" : "is", room.to_string())};
    }
  }
  return {};
}

}  // namespace latebind::app
