// Small networks in OpenVINO's own format, written out as text: for tests against the real library.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"
#include "core/tensor/tensor.h"
#include "core/text/ascii.h"

namespace latebind::openvino::test {

inline std::string ports(const char* kind, int first, const std::vector<core::Shape>& shapes, const char* precision) {
  std::string text = fmt::format("<{}>", kind);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += fmt::format("<port id=\"{}\" precision=\"{}\">", first + static_cast<int>(i), precision);
    for (const auto dim : shapes[i].dims())
      text += fmt::format("<dim>{}</dim>", dim);
    text += "</port>";
  }
  return text + fmt::format("</{}>", kind);
}

inline std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = core::ascii_upper(c);
  return out == "BOOL" ? "BOOL" : out == "F16" ? "FP16" : out == "F32" ? "FP32" : out == "F64" ? "FP64" : out;
}

inline std::string parameter(int id, const std::string& name, core::ElementType type, const core::Shape& shape) {
  std::string dims;
  for (const auto dim : shape.dims())
    dims += (dims.empty() ? "" : ",") + (dim < 0 ? std::string("?") : std::to_string(dim));
  std::string port =
      fmt::format("<output><port id=\"0\" precision=\"{}\" names=\"{}\">", upper(core::name_of(type)), name);
  for (const auto dim : shape.dims())
    port += fmt::format("<dim>{}</dim>", dim);
  const auto word = core::name_of(type) == "bool" ? std::string_view("boolean") : core::name_of(type);
  return fmt::format(
      "<layer id=\"{}\" name=\"{}\" type=\"Parameter\" version=\"opset1\"><data shape=\"{}\" "
      "element_type=\"{}\"/>{}</port></output></layer>",
      id, name, dims, word, port);
}

inline std::string result(int id, core::ElementType type, const core::Shape& shape) {
  return fmt::format("<layer id=\"{}\" name=\"result_{}\" type=\"Result\" version=\"opset1\">{}</layer>", id, id,
                     ports("input", 0, {shape}, upper(core::name_of(type)).c_str()));
}

inline core::Model ir_model(std::string name, std::string layers, std::string edges, core::SharedBytes weights = {}) {
  core::ModelForm form;
  form.format = core::ModelFormat::kOpenvinoIr;
  form.graph = core::SharedBytes::from_string(
      fmt::format("<?xml version=\"1.0\"?><net name=\"{}\" version=\"11\"><layers>{}</layers><edges>{}</edges></net>",
                  name, layers, edges));
  form.weights = std::move(weights);
  return core::Model::from_forms(std::move(name), {form});
}

inline std::string edge(int from, int from_port, int to, int to_port) {
  return fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>", from, from_port, to,
                     to_port);
}

// One operation on inputs "a" (and "b"), output "out".
inline core::Model one_op(const std::string& op, const std::string& version, const std::string& data,
                          core::ElementType type, const core::Shape& shape, int inputs, core::ElementType out_type,
                          const core::Shape& out_shape) {
  std::string layers = parameter(0, "a", type, shape);
  if (inputs == 2) layers += parameter(1, "b", type, shape);
  std::string port =
      fmt::format("<output><port id=\"{}\" precision=\"{}\" names=\"out\">", inputs, upper(core::name_of(out_type)));
  for (const auto dim : out_shape.dims())
    port += fmt::format("<dim>{}</dim>", dim);
  layers += fmt::format(
      "<layer id=\"2\" name=\"op\" type=\"{}\" version=\"{}\">{}{}{}</port></output></layer>", op, version, data,
      ports("input", 0, std::vector(static_cast<std::size_t>(inputs), shape), upper(core::name_of(type)).c_str()),
      port);
  layers += result(3, out_type, out_shape);
  std::string edges = edge(0, 0, 2, 0);
  if (inputs == 2) edges += edge(1, 0, 2, 1);
  return ir_model(op, layers, edges + edge(2, inputs, 3, 0));
}

// out = a + b
inline core::Model add_model(core::ElementType type, const core::Shape& shape) {
  return one_op("Add", "opset1", "<data auto_broadcast=\"numpy\"/>", type, shape, 2, type, shape);
}

// out = the positions of what is not zero in a, [rank, count]
inline core::Model non_zero_model(const core::Shape& shape) {
  return one_op("NonZero", "opset3", "<data output_type=\"i64\"/>", core::ElementType::kF32, shape, 1,
                core::ElementType::kI64, core::Shape{static_cast<std::int64_t>(shape.rank()), core::kDynamic});
}

// out = a × w, with a constant w of `rows` × `columns` whose memory is `weights`
inline core::Model matmul_model(std::int64_t rows, std::int64_t columns, core::SharedBytes weights) {
  using core::ElementType;
  using core::Shape;
  const Shape a{core::kDynamic, rows};
  const Shape w{rows, columns};
  const Shape out{core::kDynamic, columns};
  std::string layers = parameter(0, "a", ElementType::kF32, a);
  layers += fmt::format(
      "<layer id=\"1\" name=\"w\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" shape=\"{},{}\" "
      "offset=\"0\" "
      "size=\"{}\"/>{}</layer>",
      rows, columns, rows * columns * 4, ports("output", 0, {w}, "FP32"));
  layers += fmt::format(
      "<layer id=\"2\" name=\"op\" type=\"MatMul\" version=\"opset1\"><data transpose_a=\"false\" "
      "transpose_b=\"false\"/>{}<output><port id=\"2\" precision=\"FP32\" "
      "names=\"out\"><dim>-1</dim><dim>{}</dim></port></output></layer>",
      ports("input", 0, {a, w}, "FP32"), columns);
  layers += result(3, ElementType::kF32, out);
  return ir_model("matmul", layers, edge(0, 0, 2, 0) + edge(1, 0, 2, 1) + edge(2, 2, 3, 0), std::move(weights));
}

}  // namespace latebind::openvino::test
