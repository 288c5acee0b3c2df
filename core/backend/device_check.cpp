#include "core/backend/device_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/graph/graph.h"
#include "core/model/model.h"

namespace latebind::core {
namespace {

// An ONNX model, y = x + x for two f32: field numbers and lengths as onnx.proto has them.
constexpr std::string_view kTinyModel{
    "\x08\x07"  // ir_version 7
    "\x3A\x35"  // graph, 53 bytes
    "\x0A\x0E"  //   node
    "\x0A\x01"
    "x"
    "\x0A\x01"
    "x"
    "\x12\x01"
    "y"  //     inputs x, x; output y
    "\x22\x03"
    "Add"  //     op_type
    "\x12\x01"
    "g"         //   name
    "\x5A\x0F"  //   input
    "\x0A\x01"
    "x"
    "\x12\x0A\x0A\x08\x08\x01\x12\x04\x0A\x02\x08\x02"  //     x, f32 [2]
    "\x62\x0F"                                          //   output
    "\x0A\x01"
    "y"
    "\x12\x0A\x0A\x08\x08\x01\x12\x04\x0A\x02\x08\x02"  //     y, f32 [2]
    "\x42\x04\x0A\x00\x10\x0D",                         // opset_import: "" 13
    63};

constexpr const char* kModelName = "the tiny model of Latebind's check";
// What each of the models computes.
constexpr std::array<float, 2> kExpected{3, -4};

// A tiny model and what it is given.
struct Tiny {
  Model model;
  bool takes_tokens = false;
};

Result<Tiny> onnx_sum() {
  ModelForm form;
  form.format = ModelFormat::kOnnx;
  form.graph = SharedBytes::from_string(std::string(kTinyModel));
  return Tiny{Model::from_forms(kModelName, {std::move(form)})};
}

Result<Tiny> of_graph(graph::GraphBuilder builder, graph::Value output, bool takes_tokens) {
  LB_ASSIGN_OR_RETURN(auto made, std::move(builder).finish(output, "y"));
  auto model = Model::from_graph(kModelName, {.graph = std::make_shared<const graph::Graph>(std::move(made))});
  return Tiny{std::move(model), takes_tokens};
}

// The mean of a table's two rows, as the simplest embedding model.
Result<Tiny> graph_of_tokens() {
  constexpr std::array<float, 4> kRows{1.5F, -2.0F, 4.5F, -6.0F};
  FilePart weights;
  weights.where.size = sizeof kRows;
  weights.bytes = SharedBytes::from_string(std::string(reinterpret_cast<const char*>(kRows.data()), sizeof kRows));
  graph::GraphBuilder builder(std::move(weights));
  const Shape tokens{kDynamic, kDynamic};
  const auto ids = builder.add(graph::Input{"ids", ElementType::kI64, tokens});
  const auto mask = builder.add(graph::Input{"mask", ElementType::kI64, tokens});
  const auto rows = builder.add(graph::Lookup{{"table", ElementType::kF32, Shape{2, 2}, 0}, ids});
  const auto mean = builder.add(graph::Pool{rows, mask, graph::PoolingMode::kMean});
  return of_graph(std::move(builder), mean, true);
}

// The sum of two inputs.
Result<Tiny> graph_sum() {
  graph::GraphBuilder builder{FilePart()};
  const auto x = builder.add(graph::Input{"x", ElementType::kF32, Shape{2}});
  const auto z = builder.add(graph::Input{"z", ElementType::kF32, Shape{2}});
  const auto sum = builder.add(graph::Add{x, z});
  return of_graph(std::move(builder), sum, false);
}

TensorView view(void* data, ElementType type, const Shape& shape) {
  return {.data = data, .type = type, .shape = shape, .strides = std::nullopt};
}

DeviceCheck compute(Executable& executable, bool takes_tokens, float tolerance) {
  std::array<float, 2> x{1.5F, -2.0F};
  std::array<std::int64_t, 2> ids{0, 1};
  std::array<std::int64_t, 2> mask{1, 1};
  const std::array tokens{view(ids.data(), ElementType::kI64, Shape{1, 2}),
                          view(mask.data(), ElementType::kI64, Shape{1, 2})};
  const std::array numbers{view(x.data(), ElementType::kF32, Shape{2}), view(x.data(), ElementType::kF32, Shape{2})};
  const auto inputs = takes_tokens ? std::span<const TensorView>(tokens)
                                   : std::span<const TensorView>(numbers).first(executable.inputs().size());
  std::array<float, 2> y{};
  OutputTensor output = OutputTensor::bound(y.data(), sizeof y);
  if (auto status = executable.execute(inputs, {&output, 1}, {}); !status.ok()) return {std::move(status)};
  const bool is_right = std::ranges::equal(
      y, kExpected, [&](float got, float right) { return std::abs(got - right) <= tolerance * std::abs(right); });
  if (is_right) return {};
  return {Status(StatusCode::kDeviceFailed, fmt::format("3 and -4 came back as {} and {}", y[0], y[1])), true};
}

DeviceCheck check_with(Backend& backend, const Device& device, const Tiny& tiny) {
  const auto& precisions = device.traits.precisions;
  CompileOptions options;
  options.requests = 1;
  if (!precisions.empty() && !device.traits.computes_in(Precision::kF32)) options.precision = precisions.front();
  // NPUs compile for static shapes.
  if (tiny.takes_tokens && device.kind == DeviceKind::kNpu) options.input_shapes = {Shape{1, 2}, Shape{1, 2}};
  const auto executable = backend.load(tiny.model, device.name, options);
  if (!executable.ok()) return {executable.status()};
  const bool is_exact = options.precision == Precision::kF32;
  return compute(**executable, tiny.takes_tokens, is_exact ? 0 : 0.05F);
}

}  // namespace

DeviceCheck check_device(Backend& backend, const Device& device) {
  DeviceCheck first;
  bool is_first = true;
  const std::array models{&onnx_sum, &graph_of_tokens, &graph_sum};
  for (auto* const make : std::span(models).subspan(device.traits.graphs_only ? 1 : 0)) {
    const auto tiny = make();
    if (!tiny.ok()) return {tiny.status()};
    DeviceCheck check = check_with(backend, device, *tiny);
    if (check.status.code() != StatusCode::kUnsupported) return check;
    if (is_first) first = std::move(check);
    is_first = false;
  }
  return first;
}

}  // namespace latebind::core
