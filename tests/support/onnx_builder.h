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

#include "core/graph/protobuf.h"
#include "core/model/model.h"
#include "core/tensor/tensor.h"

namespace latebind::test {

// A size, a name, or "" for a dimension of which nothing is known.
using OnnxDim = std::variant<std::int64_t, std::string>;
using OnnxDims = std::vector<OnnxDim>;

inline constexpr std::int64_t kOnnxString = 8;

inline std::int64_t onnx_type(core::ElementType type) {
  using core::ElementType;
  switch (type) {
    case ElementType::kF32:
      return 1;
    case ElementType::kU8:
      return 2;
    case ElementType::kI8:
      return 3;
    case ElementType::kU16:
      return 4;
    case ElementType::kI16:
      return 5;
    case ElementType::kI32:
      return 6;
    case ElementType::kI64:
      return 7;
    case ElementType::kBool:
      return 9;
    case ElementType::kF16:
      return 10;
    case ElementType::kF64:
      return 11;
    case ElementType::kU32:
      return 12;
    case ElementType::kU64:
      return 13;
    case ElementType::kBF16:
      return 16;
  }
  return 0;
}

class OnnxBuilder {
 public:
  using Message = graph::ProtobufMessage;
  using Names = std::initializer_list<std::string>;

  OnnxBuilder& input(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    return input(name, onnx_type(type), dims);
  }
  OnnxBuilder& input(const std::string& name, std::int64_t type, const OnnxDims& dims) {
    graph_.add_message(11, value_info(name, type, dims));
    return *this;
  }
  OnnxBuilder& output(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    return output(name, onnx_type(type), dims);
  }
  OnnxBuilder& output(const std::string& name, std::int64_t type, const OnnxDims& dims) {
    graph_.add_message(12, value_info(name, type, dims));
    return *this;
  }

  OnnxBuilder& node(const std::string& op, Names inputs, Names outputs,
                    std::initializer_list<std::pair<std::string, std::int64_t>> attributes = {}) {
    Message node;
    for (const std::string& name : inputs)
      node.add_bytes(1, name);
    for (const std::string& name : outputs)
      node.add_bytes(2, name);
    node.add_bytes(3, op + "_" + std::to_string(nodes_++));
    node.add_bytes(4, op);
    for (const auto& [key, value] : attributes) {
      Message attribute;
      attribute.add_bytes(1, key);
      attribute.add_int(3, value);
      attribute.add_int(20, 2);
      node.add_message(5, attribute);
    }
    graph_.add_message(1, node);
    return *this;
  }

  // One that is written by the caller.
  OnnxBuilder& node(const Message& node) {
    graph_.add_message(1, node);
    return *this;
  }
  // Operators of this domain, beside ONNX's own.
  OnnxBuilder& opset(const std::string& domain, std::int64_t version) {
    Message opset;
    opset.add_bytes(1, domain);
    opset.add_int(2, version);
    opsets_.push_back(std::move(opset));
    return *this;
  }

  template <class T>
  OnnxBuilder& constant(const std::string& name, core::ElementType type, std::initializer_list<std::int64_t> dims,
                        std::span<const T> values) {
    Message tensor = tensor_head(name, type, dims);
    tensor.add_bytes(9, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    graph_.add_message(5, tensor);
    return *this;
  }

  // A constant whose bytes are in another file.
  OnnxBuilder& external_constant(const std::string& name, core::ElementType type,
                                 std::initializer_list<std::int64_t> dims, const std::string& location,
                                 std::size_t offset, std::size_t length) {
    Message tensor = tensor_head(name, type, dims);
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                     {"offset", std::to_string(offset)},
                                     {"length", std::to_string(length)}}) {
      Message entry;
      entry.add_bytes(1, key);
      entry.add_bytes(2, value);
      tensor.add_message(13, entry);
    }
    tensor.add_int(14, 1);
    graph_.add_message(5, tensor);
    return *this;
  }

  // A function that the model has, written by the caller.
  OnnxBuilder& function(const Message& function) {
    functions_.push_back(function);
    return *this;
  }
  // What is known of a tensor between nodes.
  OnnxBuilder& value(const std::string& name, core::ElementType type, const OnnxDims& dims) {
    graph_.add_message(13, value_info(name, onnx_type(type), dims));
    return *this;
  }
  // Its graph alone, as an attribute of a node has it.
  [[nodiscard]] const Message& graph() const { return graph_; }

  [[nodiscard]] std::string bytes() const {
    Message graph = graph_;
    graph.add_bytes(2, "test");
    Message opset;
    opset.add_bytes(1, "");
    opset.add_int(2, 17);
    Message model;
    model.add_int(1, 9);
    model.add_bytes(2, "latebind tests");
    model.add_message(7, graph);
    model.add_message(8, opset);
    for (const Message& other : opsets_)
      model.add_message(8, other);
    for (const Message& function : functions_)
      model.add_message(25, function);
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
    Message shape;
    for (const OnnxDim& dim : dims) {
      Message message;
      if (const auto* size = std::get_if<std::int64_t>(&dim)) {
        message.add_int(1, *size);
      } else if (!std::get<std::string>(dim).empty()) {
        message.add_bytes(2, std::get<std::string>(dim));
      }
      shape.add_message(1, message);
    }
    Message tensor;
    tensor.add_int(1, type);
    tensor.add_message(2, shape);
    Message kind;
    kind.add_message(1, tensor);
    Message info;
    info.add_bytes(1, name);
    info.add_message(2, kind);
    return info;
  }

  static Message tensor_head(const std::string& name, core::ElementType type,
                             std::initializer_list<std::int64_t> dims) {
    Message tensor;
    for (const std::int64_t dim : dims)
      tensor.add_int(1, dim);
    tensor.add_int(2, onnx_type(type));
    tensor.add_bytes(8, name);
    return tensor;
  }

  Message graph_;
  std::vector<Message> opsets_;
  std::vector<Message> functions_;
  unsigned nodes_ = 0;
};

}  // namespace latebind::test
