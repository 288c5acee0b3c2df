// Nodes, attributes and functions as messages, for what test::OnnxBuilder does not write.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/onnx/known_errors.h"
#include "core/onnx/network.h"
#include "tests/support/onnx_builder.h"

namespace latebind::onnx::testing {

using Message = graph::ProtobufMessage;

inline Message node_of(const std::string& op, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {},
                       const std::string& domain = "") {
  return graph::node_message(op, inputs, outputs, "", attributes, domain);
}

inline Message attribute_of(const std::string& name, std::int64_t number) {
  return graph::int_attribute(name, number);
}

inline Message attribute_of(const std::string& name, const Message& graph) {
  Message attribute;
  attribute.add_bytes(graph::AttributeProto::kName, name);
  attribute.add_message(graph::AttributeProto::kGraph, graph);
  return attribute;
}

// That of the function's caller.
inline Message attribute_from(const std::string& name, const std::string& of_caller) {
  Message attribute;
  attribute.add_bytes(graph::AttributeProto::kName, name);
  attribute.add_bytes(graph::AttributeProto::kRefAttrName, of_caller);
  return attribute;
}

inline Message function_of(const std::string& name, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const std::vector<Message>& nodes,
                           const std::vector<Message>& defaults = {}) {
  using Function = graph::FunctionProto;
  Message function;
  function.add_bytes(Function::kName, name);
  for (const std::string& input : inputs)
    function.add_bytes(Function::kInput, input);
  for (const std::string& output : outputs)
    function.add_bytes(Function::kOutput, output);
  for (const Message& node : nodes)
    function.add_message(Function::kNode, node);
  function.add_bytes(Function::kDomain, "own");
  for (const Message& attribute : defaults)
    function.add_message(Function::kAttributeProto, attribute);
  return function;
}

inline core::Result<OnnxNetwork> network_in(const std::string& bytes) {
  return read_onnx_network(std::as_bytes(std::span(bytes)), "m");
}

// By a table of "vendor 1.0".
inline KnownErrors errors_of(const std::string& table) {
  const std::vector<std::string> runtimes{"vendor 1.0"};
  auto errors = KnownErrors::read(table, "a table", runtimes);
  return errors.ok() ? *std::move(errors) : KnownErrors();
}

inline KnownErrorReport report_of(const std::string& bytes, const std::string& table,
                                  const std::set<std::size_t>& left = {}) {
  const auto network = network_in(bytes);
  if (!network.ok()) return {{{999, network.status().to_string()}}, {}};
  return find_known_errors(*network, errors_of(table), left);
}

}  // namespace latebind::onnx::testing
