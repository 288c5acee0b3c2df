// Functions of the fake host about graphs and nodes. Private to fake_plugin_host.cpp.
#pragma once

#include "tests/fakes/fake_plugin_host_values.h"

namespace latebind::test::host {

inline abi::Status* Graph_GetModelPath(const abi::Graph* graph, const abi::PathChar** path) {
  LB_FALLIBLE;
  call.give(path, graph->source.path.c_str());
  return nullptr;
}
inline abi::Status* Graph_GetOnnxIRVersion(const abi::Graph*, std::int64_t* version) {
  LB_FALLIBLE;
  call.give(version, std::int64_t{9});
  return nullptr;
}
inline abi::Status* Graph_GetNumOperatorSets(const abi::Graph*, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, std::size_t{1});
  return nullptr;
}
inline abi::Status* Graph_GetOperatorSets(const abi::Graph*, const char** domains, std::int64_t* versions,
                                          std::size_t count) {
  LB_FALLIBLE;
  if (count == 0) return nullptr;
  call.give<const char*>(domains, "");
  call.give(versions, std::int64_t{17});
  return nullptr;
}
inline abi::Status* Graph_GetNumOutputs(const abi::Graph* graph, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, graph->outputs.size());
  return nullptr;
}
inline abi::Status* Graph_GetOutputs(const abi::Graph* graph, const abi::ValueInfo** outputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(outputs, graph->outputs, count);
  return nullptr;
}
inline abi::Status* Graph_GetNumNodes(const abi::Graph* graph, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, graph->nodes.size());
  return nullptr;
}
inline abi::Status* Graph_GetNodes(const abi::Graph* graph, const abi::Node** nodes, std::size_t count) {
  LB_FALLIBLE;
  std::vector<const abi::Node*> all;
  for (const auto& node : graph->nodes)
    all.push_back(node.get());
  call.give_all(nodes, all, count);
  return nullptr;
}
inline abi::Status* Graph_GetParentNode(const abi::Graph*, const abi::Node** parent) {
  LB_FALLIBLE;
  *parent = nullptr;
  return nullptr;
}
inline abi::Status* Node_GetName(const abi::Node* node, const char** name) {
  LB_FALLIBLE;
  call.give(name, node->name.c_str());
  return nullptr;
}
inline abi::Status* Node_GetOperatorType(const abi::Node* node, const char** op) {
  LB_FALLIBLE;
  call.give(op, node->node.op.c_str());
  return nullptr;
}
inline abi::Status* Node_GetDomain(const abi::Node* node, const char** domain) {
  LB_FALLIBLE;
  call.give(domain, node->node.domain.c_str());
  return nullptr;
}
inline abi::Status* Node_GetSinceVersion(const abi::Node*, int* version) {
  LB_FALLIBLE;
  call.give(version, 13);
  return nullptr;
}
inline abi::Status* Node_GetNumInputs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->inputs.size());
  return nullptr;
}
inline abi::Status* Node_GetInputs(const abi::Node* node, const abi::ValueInfo** inputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(inputs, node->inputs, count);
  return nullptr;
}
inline abi::Status* Node_GetNumOutputs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->outputs.size());
  return nullptr;
}
inline abi::Status* Node_GetOutputs(const abi::Node* node, const abi::ValueInfo** outputs, std::size_t count) {
  LB_FALLIBLE;
  call.give_all(outputs, node->outputs, count);
  return nullptr;
}
inline abi::Status* Node_GetNumImplicitInputs(const abi::Node*, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, std::size_t{0});
  return nullptr;
}
inline abi::Status* Node_GetImplicitInputs(const abi::Node*, const abi::ValueInfo**, std::size_t) {
  LB_FALLIBLE;
  return nullptr;
}
inline abi::Status* Node_GetNumAttributes(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->attributes.size());
  return nullptr;
}
inline abi::Status* Node_GetAttributes(const abi::Node* node, const abi::OpAttr** attributes, std::size_t count) {
  LB_FALLIBLE;
  std::vector<const abi::OpAttr*> all;
  for (const auto& attribute : node->attributes)
    all.push_back(attribute.get());
  call.give_all(attributes, all, count);
  return nullptr;
}
inline abi::Status* Node_GetAttributeByName(const abi::Node* node, const char* name, const abi::OpAttr** attribute) {
  LB_FALLIBLE;
  const auto found = std::ranges::find_if(node->attributes, [&](const auto& a) { return a->attribute.name == name; });
  call.give<const abi::OpAttr*>(attribute, found != node->attributes.end() ? found->get() : nullptr);
  return nullptr;
}
inline abi::Status* OpAttr_GetTensorAttributeAsOrtValue(const abi::OpAttr* attribute, abi::Value** value) {
  LB_FALLIBLE;
  if (call.lies()) {
    *value = nullptr;
    return nullptr;
  }
  const std::string& bytes = attribute->attribute.bytes;
  *value = born("Value", new abi::Value{{1, {static_cast<std::int64_t>(bytes.size() / sizeof(float))}, bytes}});
  return nullptr;
}
inline abi::Status* OpAttr_GetType(const abi::OpAttr* attribute, abi::OpAttrType* type) {
  LB_FALLIBLE;
  call.give(type, attribute->attribute.type);
  return nullptr;
}
inline abi::Status* OpAttr_GetName(const abi::OpAttr* attribute, const char** name) {
  LB_FALLIBLE;
  call.give(name, attribute->attribute.name.c_str());
  return nullptr;
}
inline abi::Status* Node_GetNumSubgraphs(const abi::Node* node, std::size_t* count) {
  LB_FALLIBLE;
  call.give(count, node->node.subgraphs);
  return nullptr;
}
inline const char* GetRunConfigEntry(const abi::RunOptions* options, const char* key) {
  LB_CALL;
  const auto found = options->entries.find(key);
  return call.answer(found != options->entries.end() ? found->second.c_str() : nullptr);
}
inline abi::Status* GetSessionOptionsConfigEntries(const abi::SessionOptions* options, abi::KeyValuePairs** entries) {
  LB_FALLIBLE;
  *entries = call.lies() ? nullptr : born("KeyValuePairs", new abi::KeyValuePairs{options->entries, {}, {}});
  return nullptr;
}

}  // namespace latebind::test::host
