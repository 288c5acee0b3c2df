#include "app/device_check.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/graph/graph.h"
#include "core/model/model.h"

namespace latebind::app {
namespace {

using core::Status;
using core::StatusCode;

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

// The equivalent for devices that only run graphs: the mean of a table's two rows.
core::Result<core::Model> tiny_graph() {
  constexpr std::array<float, 4> kRows{1.5F, -2.0F, 4.5F, -6.0F};
  core::FilePart weights;
  weights.where.size = sizeof kRows;
  weights.bytes =
      core::SharedBytes::from_string(std::string(reinterpret_cast<const char*>(kRows.data()), sizeof kRows));
  graph::GraphBuilder builder(std::move(weights));
  const core::Shape tokens{core::kDynamic, core::kDynamic};
  const auto ids = builder.add(graph::Input{"ids", core::ElementType::kI64, tokens});
  const auto mask = builder.add(graph::Input{"mask", core::ElementType::kI64, tokens});
  const auto rows = builder.add(graph::Lookup{{"table", core::ElementType::kF32, core::Shape{2, 2}, 0}, ids});
  const auto mean = builder.add(graph::Pool{rows, mask, graph::PoolingMode::kMean});
  LB_ASSIGN_OR_RETURN(auto made, std::move(builder).finish(mean, "y"));
  return core::Model::from_graph("the doctor's model",
                                 {.graph = std::make_shared<const graph::Graph>(std::move(made))});
}

core::Result<core::Model> tiny_model(bool graph) {
  if (graph) return tiny_graph();
  core::ModelForm form;
  form.format = core::ModelFormat::kOnnx;
  form.graph = core::SharedBytes::from_string(std::string(kTinyModel));
  return core::Model::from_forms("the doctor's model", {std::move(form)});
}

core::TensorView view(void* data, core::ElementType type, const core::Shape& shape) {
  return {.data = data, .type = type, .shape = shape, .strides = std::nullopt};
}

}  // namespace

Status check_device(core::Backend& backend, const core::Device& device) {
  LB_ASSIGN_OR_RETURN(const auto model, tiny_model(device.traits.graphs_only));
  core::CompileOptions options;
  options.requests = 1;
  LB_ASSIGN_OR_RETURN(const auto executable, backend.load(model, device.name, options));

  // Both models give 3 and -4.
  std::array<float, 2> x{1.5F, -2.0F};
  std::array<std::int64_t, 2> ids{0, 1};
  std::array<std::int64_t, 2> mask{1, 1};
  const std::array of_graph{view(ids.data(), core::ElementType::kI64, core::Shape{1, 2}),
                            view(mask.data(), core::ElementType::kI64, core::Shape{1, 2})};
  const std::array of_file{view(x.data(), core::ElementType::kF32, core::Shape{2})};
  const auto inputs = device.traits.graphs_only ? std::span<const core::TensorView>(of_graph) : std::span(of_file);
  std::array<float, 2> y{};
  core::OutputTensor output = core::OutputTensor::bound(y.data(), sizeof y);
  LB_RETURN_IF_ERROR(executable->execute(inputs, {&output, 1}, {}));
  if (y[0] != 3.0F || y[1] != -4.0F) {
    return Status(StatusCode::kDeviceFailed, fmt::format("3 and -4 came back as {} and {}", y[0], y[1]));
  }
  return {};
}

}  // namespace latebind::app
