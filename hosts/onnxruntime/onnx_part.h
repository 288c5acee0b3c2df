// PartWriter: some nodes of the host's graph, written as an ONNX model.
//
// Source: onnx.proto of ONNX 1.16. One thread; what is read of the host is copied.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/graph/protobuf.h"
#include "hosts/onnxruntime/graph.h"

namespace latebind::provider {

class PartWriter {
 public:
  PartWriter(const Host& host, bool inline_weights) : host_(host), inline_weights_(inline_weights) {}

  // Throws Failure for attributes that have no place in a part: graphs.
  void add_node(const NodeView& node);
  void add_initializer(const std::string& name, const abi::Value* value);
  void add_input(const std::string& name, const TypeView& type);
  void add_output(const std::string& name, const TypeView& type);
  [[nodiscard]] OnnxPart finish(std::int64_t ir_version, std::int64_t opset) &&;

 private:
  [[nodiscard]] graph::ProtobufMessage tensor(const abi::Value* value, bool may_be_external);

  const Host& host_;
  const bool inline_weights_;
  graph::ProtobufMessage graph_;
  OnnxPart part_;
};

// The bytes of an attribute that has a size of its own: a string, or an array of numbers or strings.
[[nodiscard]] std::string attribute_bytes(const Host& host, const abi::OpAttr* attribute, abi::OpAttrType type);

// The numbers of such an array.
template <class Number>
std::vector<Number> numbers_of(const std::string& bytes) {
  std::vector<Number> values(bytes.size() / sizeof(Number));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Number));
  return values;
}

}  // namespace latebind::provider
