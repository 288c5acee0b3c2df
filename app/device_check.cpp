#include "app/device_check.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "core/model.h"

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

}  // namespace

Status check_device(core::Backend& backend, std::string_view device) {
  core::ModelForm form;
  form.format = core::ModelFormat::kOnnx;
  form.graph = core::SharedBytes::from_string(std::string(kTinyModel));
  const auto model = core::Model::from_forms("the doctor's model", {std::move(form)});
  core::CompileOptions options;
  options.requests = 1;
  LB_ASSIGN_OR_RETURN(const auto executable, backend.load(model, device, options));

  std::array<float, 2> x{1.5F, -2.0F};
  std::array<float, 2> y{};
  const core::TensorView input{
      .data = x.data(), .type = core::ElementType::kF32, .shape = core::Shape{2}, .strides = std::nullopt};
  core::OutputTensor output = core::OutputTensor::bound(y.data(), sizeof y);
  LB_RETURN_IF_ERROR(executable->execute({&input, 1}, {&output, 1}, {}));
  if (y[0] != 3.0F || y[1] != -4.0F) {
    return Status(StatusCode::kDeviceFailed, fmt::format("1.5 + 1.5 and -2 - 2 came back as {} and {}", y[0], y[1]));
  }
  return {};
}

}  // namespace latebind::app
