// Small ONNX models for tests, written field by field.
//
// Source: onnx.proto (IR version 9, opset 17: what every version of the vendors' libraries in the matrix reads).
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/onnx_builder.h"
#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_types.h"
#include "core/model/model.h"
#include "core/tensor/tensor.h"

namespace latebind::test {

// A size, a name, or "" for a dimension of which nothing is known.
using OnnxDim = std::variant<std::int64_t, std::string>;
using OnnxDims = std::vector<OnnxDim>;

inline constexpr std::int64_t kOnnxString = 8;

using graph::onnx_type;

class OnnxBuilder {
 public:
  using Message = graph::ProtobufMessage;
  using GraphProto = graph::GraphProto;
  using ModelProto = graph::ModelProto;
  using Names = std::initializer_list<std::string>;

  OnnxBuilder& input(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    return input(name, onnx_type(type), dims);
  }
  OnnxBuilder& input(const std::string& name, std::int64_t type, const OnnxDims& dims) {
    graph_.add_message(GraphProto::kInput, value_info(name, type, dims));
    return *this;
  }
  OnnxBuilder& output(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    return output(name, onnx_type(type), dims);
  }
  OnnxBuilder& output(const std::string& name, std::int64_t type, const OnnxDims& dims) {
    graph_.add_message(GraphProto::kOutput, value_info(name, type, dims));
    return *this;
  }

  OnnxBuilder& node(const std::string& op, Names inputs, Names outputs,
                    std::initializer_list<std::pair<std::string, std::int64_t>> attributes = {}) {
    std::vector<Message> messages;
    for (const auto& [key, value] : attributes)
      messages.push_back(graph::int_attribute(key, value));
    return node(graph::node_message(op, inputs, outputs, op + "_" + std::to_string(nodes_++), messages));
  }

  // One that is written by the caller.
  OnnxBuilder& node(const Message& node) {
    graph_.add_message(GraphProto::kNode, node);
    return *this;
  }
  // Operators of this domain, beside ONNX's own.
  OnnxBuilder& opset(const std::string& domain, std::int64_t version) {
    opsets_.push_back(graph::operator_set(domain, version));
    return *this;
  }

  template <class T>
  OnnxBuilder& constant(const std::string& name, core::ElementType type, std::initializer_list<std::int64_t> dims,
                        std::span<const T> values) {
    Message tensor = graph::tensor_head(onnx_type(type), dims, name);
    tensor.add_bytes(graph::TensorProto::kRawData, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    graph_.add_message(GraphProto::kInitializer, tensor);
    return *this;
  }

  // A constant whose bytes are in another file.
  OnnxBuilder& external_constant(const std::string& name, core::ElementType type,
                                 std::initializer_list<std::int64_t> dims, const std::string& location,
                                 std::size_t offset, std::size_t length) {
    Message tensor = graph::tensor_head(onnx_type(type), dims, name);
    graph::add_external_place(tensor, {.location = location, .offset = offset, .length = length});
    tensor.add_varint(graph::TensorProto::kDataLocation, graph::TensorProto::kExternal);
    graph_.add_message(GraphProto::kInitializer, tensor);
    return *this;
  }

  // A function that the model has, written by the caller.
  OnnxBuilder& function(const Message& function) {
    functions_.push_back(function);
    return *this;
  }
  // What is known of a tensor between nodes.
  OnnxBuilder& value(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    graph_.add_message(GraphProto::kValueInfo, value_info(name, onnx_type(type), dims));
    return *this;
  }
  // Its graph alone, as an attribute of a node has it.
  [[nodiscard]] const Message& graph() const { return graph_; }

  [[nodiscard]] std::string bytes() const {
    Message graph = graph_;
    graph.add_bytes(GraphProto::kName, "test");
    Message model;
    model.add_int(ModelProto::kIrVersion, 9);
    model.add_bytes(ModelProto::kProducerName, "latebind tests");
    model.add_message(ModelProto::kGraph, graph);
    model.add_message(ModelProto::kOpsetImport, graph::operator_set("", 17));
    for (const Message& other : opsets_)
      model.add_message(ModelProto::kOpsetImport, other);
    for (const Message& function : functions_)
      model.add_message(ModelProto::kFunctions, function);
    return model.bytes();
  }

  [[nodiscard]] core::Model model(std::vector<core::ExternalData> external = {}) const {
    core::ModelForm form;
    form.format = core::ModelFormat::kOnnx;
    form.graph = core::SharedBytes::from_string(bytes());
    form.external = std::move(external);
    return core::Model::from_forms("test", {form});
  }

 private:
  static Message value_info(const std::string& name, std::int64_t type, const OnnxDims& dims) {
    std::vector<graph::OnnxDimension> shape;
    for (const OnnxDim& dim : dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size != nullptr ? graph::OnnxDimension{*size}
                                      : graph::OnnxDimension{-1, std::get<std::string>(dim)});
    }
    return graph::value_info(name, type, shape);
  }

  Message graph_;
  std::vector<Message> opsets_;
  std::vector<Message> functions_;
  unsigned nodes_ = 0;
};

}  // namespace latebind::test
