#include "hosts/onnxruntime/graph.h"

#include <algorithm>
#include <map>

#include "core/graph/onnx_types.h"
#include "core/platform/files/folders.h"
#include "hosts/onnxruntime/onnx_part.h"

namespace latebind::provider {
namespace {

// The public numbers equal those of core.
static_assert(LB_BOOL == static_cast<int>(core::ElementType::kBool) &&
              LB_F64 == static_cast<int>(core::ElementType::kF64));

using CountOf = abi::Status* (*)(const abi::Node*, std::size_t*);
using ValuesOf = abi::Status* (*)(const abi::Node*, const abi::ValueInfo**, std::size_t);

std::vector<ValueView> values_of(const Host& host, const abi::Node* node, CountOf count_of, ValuesOf of) {
  std::size_t count = 0;
  host.check(count_of(node, &count));
  std::vector<const abi::ValueInfo*> raw(Host::need_count(count, "number of values"));
  if (count > 0) host.check(of(node, raw.data(), count));
  std::vector<ValueView> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (raw[i] == nullptr) continue;
    const char* name = nullptr;
    host.check(host->GetValueInfoName(raw[i], &name));
    if (name == nullptr || *name == '\0') continue;
    values[i] = {raw[i], name};
  }
  return values;
}

}  // namespace

std::int32_t latebind_type(abi::ElementType type) {
  const auto found = graph::element_type_of_onnx(type);
  return found ? static_cast<std::int32_t>(*found) : 0;
}

std::vector<ValueView> node_inputs(const Host& host, const abi::Node* node) {
  return values_of(host, node, host->Node_GetNumInputs, host->Node_GetInputs);
}

std::vector<ValueView> node_outputs(const Host& host, const abi::Node* node) {
  return values_of(host, node, host->Node_GetNumOutputs, host->Node_GetOutputs);
}

std::string text_attribute(const Host& host, const abi::Node* node, const char* name) {
  const abi::OpAttr* attribute = nullptr;
  // A missing attribute is an error in some versions and null in others.
  if (abi::Status* missing = host->Node_GetAttributeByName(node, name, &attribute)) {
    host->ReleaseStatus(missing);
    return {};
  }
  return attribute != nullptr ? attribute_bytes(host, attribute, abi::kAttrString) : std::string();
}

std::int64_t int_attribute(const Host& host, const abi::Node* node, const char* name, std::int64_t otherwise) {
  const abi::OpAttr* attribute = nullptr;
  if (abi::Status* missing = host->Node_GetAttributeByName(node, name, &attribute)) {
    host->ReleaseStatus(missing);
    return otherwise;
  }
  if (attribute == nullptr) return otherwise;
  std::int64_t value = otherwise;
  std::size_t size = 0;
  host.check(host->ReadOpAttr(attribute, abi::kAttrInt, &value, sizeof value, &size));
  return value;
}

GraphView::GraphView(const Host& host, const abi::Graph* graph, const GivenInitializers& given)
    : host_(host), given_(given) {
  const abi::Node* parent = nullptr;
  host_.check(host_->Graph_GetParentNode(graph, &parent));
  is_within_a_node_ = parent != nullptr;
  const abi::PathChar* path = nullptr;
  host_.check(host_->Graph_GetModelPath(graph, &path));
  if (path != nullptr && *path != 0) path_ = platform::anchored(path);
  host_.check(host_->Graph_GetOnnxIRVersion(graph, &ir_version_));
  std::size_t count = 0;
  host_.check(host_->Graph_GetNumOperatorSets(graph, &count));
  std::vector<const char*> domains(Host::need_count(count, "number of operator sets"));
  std::vector<std::int64_t> versions(count);
  host_.check(host_->Graph_GetOperatorSets(graph, domains.data(), versions.data(), count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string domain = Host::need(domains[i], "domain");
    if (domain.empty() || domain == "ai.onnx") opset_ = versions[i];
  }
  host_.check(host_->Graph_GetNumOutputs(graph, &count));
  std::vector<const abi::ValueInfo*> outputs(Host::need_count(count, "number of outputs"));
  if (count > 0) host_.check(host_->Graph_GetOutputs(graph, outputs.data(), count));
  for (const abi::ValueInfo* output : outputs) {
    const char* name = nullptr;
    host_.check(host_->GetValueInfoName(Host::need(output, "output of a graph"), &name));
    graph_outputs_.insert(Host::need(name, "name of an output"));
  }
  host_.check(host_->Graph_GetNumNodes(graph, &count));
  std::vector<const abi::Node*> raw(Host::need_count(count, "number of nodes"));
  if (count > 0) host_.check(host_->Graph_GetNodes(graph, raw.data(), count));
  for (const abi::Node* node : raw) {
    NodeView view;
    view.raw = Host::need(node, "node");
    const char* text = nullptr;
    host_.check(host_->Node_GetName(node, &text));
    view.name = Host::need(text, "name of a node");
    host_.check(host_->Node_GetOperatorType(node, &text));
    view.op = Host::need(text, "operator");
    host_.check(host_->Node_GetDomain(node, &text));
    view.domain = Host::need(text, "domain") == std::string("ai.onnx") ? "" : text;
    host_.check(host_->Node_GetSinceVersion(node, &view.since));
    host_.check(host_->Node_GetNumSubgraphs(node, &view.subgraphs));
    view.inputs = node_inputs(host_, node);
    view.outputs = node_outputs(host_, node);
    // Asked now, since unknown names cannot be asked for once a part has been compiled.
    for (const ValueView& input : view.inputs)
      static_cast<void>(given_.has(input.name));
    nodes_.push_back(std::move(view));
  }
}

TypeView type_of(const Host& host, const ValueView& value) {
  TypeView view;
  const abi::TypeInfo* info = nullptr;
  host.check(host->GetValueInfoTypeInfo(value.raw, &info));
  if (info == nullptr) return view;
  abi::OnnxType kind = abi::kUnknownValue;
  host.check(host->GetOnnxTypeFromTypeInfo(info, &kind));
  if (kind != abi::kTensorValue) return view;
  const abi::TensorTypeAndShapeInfo* tensor = nullptr;
  host.check(host->CastTypeInfoToTensorInfo(info, &tensor));
  if (tensor == nullptr) return view;
  view.is_tensor = true;
  abi::ElementType type{};
  host.check(host->GetTensorElementType(tensor, &type));
  view.onnx_type = type;
  view.type = latebind_type(type);
  view.has_shape = host->TensorTypeAndShape_HasShape(tensor);
  if (!view.has_shape) return view;
  std::size_t rank = 0;
  host.check(host->GetDimensionsCount(tensor, &rank));
  view.shape.resize(Host::need_count(rank, "rank"));
  std::vector<const char*> symbols(rank);
  if (rank > 0) {
    host.check(host->GetDimensions(tensor, view.shape.data(), rank));
    host.check(host->GetSymbolicDimensions(tensor, symbols.data(), rank));
  }
  for (const char* symbol : symbols)
    view.symbols.emplace_back(symbol != nullptr ? symbol : "");
  return view;
}

bool GraphView::is_constant(const ValueView& value) const {
  bool is_constant = false;
  host_.check(host_->ValueInfo_IsConstantInitializer(value.raw, &is_constant));
  return is_constant && !given_.has(value.name);
}

bool GraphView::has_given(std::span<const std::size_t> nodes) const {
  return std::ranges::any_of(nodes, [&](std::size_t i) {
    return std::ranges::any_of(nodes_[i].inputs, [&](const ValueView& input) { return given_.has(input.name); });
  });
}

std::vector<ValueView> GraphView::outputs_of(std::span<const std::size_t> nodes) const {
  std::set<std::string> used_elsewhere = graph_outputs_;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (std::ranges::binary_search(nodes, i)) continue;
    for (const ValueView& input : nodes_[i].inputs)
      used_elsewhere.insert(input.name);
    // The values that a node's subgraphs use.
    if (nodes_[i].subgraphs > 0) {
      for (const ValueView& input :
           values_of(host_, nodes_[i].raw, host_->Node_GetNumImplicitInputs, host_->Node_GetImplicitInputs)) {
        used_elsewhere.insert(input.name);
      }
    }
  }
  std::vector<ValueView> outputs;
  for (const std::size_t i : nodes) {
    for (const ValueView& output : nodes_[i].outputs)
      if (output.raw != nullptr && used_elsewhere.contains(output.name)) outputs.push_back(output);
  }
  return outputs;
}

std::string GraphView::key(std::span<const std::size_t> nodes) const {
  std::set<std::string> lines;
  for (const ValueView& output : outputs_of(nodes))
    lines.insert("makes " + output.name + '\n');
  for (const std::size_t i : nodes) {
    std::string line = nodes_[i].op;
    for (const auto* values : {&nodes_[i].inputs, &nodes_[i].outputs}) {
      for (const ValueView& value : *values)
        line += '\t' + value.name;
    }
    lines.insert(line + '\n');
  }
  std::string key;
  for (const std::string& line : lines)
    key += line;
  return key;
}

std::shared_ptr<const ModelFile> GraphView::model_file() const {
  if (!model_file_) model_file_ = ModelFile::open(path_);
  return *model_file_;
}

OnnxPart GraphView::part(std::span<const std::size_t> nodes, WeightsPlace place) const {
  std::set<std::string> made;
  for (const std::size_t i : nodes) {
    for (const ValueView& output : nodes_[i].outputs)
      made.insert(output.name);
  }
  std::map<std::string, ValueView> constants;
  std::vector<ValueView> inputs;
  std::set<std::string> seen;
  for (const std::size_t i : nodes) {
    for (const ValueView& input : nodes_[i].inputs) {
      if (input.raw == nullptr || made.contains(input.name) || !seen.insert(input.name).second) continue;
      if (is_constant(input)) {
        constants[input.name] = input;
      } else {
        inputs.push_back(input);
      }
    }
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : constants)
    bytes += initializer_size(host_, value);
  PartWriter writer(host_, path_.parent_path(), may_stay_in_files(bytes, place) ? model_file() : nullptr, bytes, place);
  for (const std::size_t i : nodes)
    writer.add_node(nodes_[i]);
  for (const auto& [name, value] : constants)
    writer.add_initializer(value);
  for (const ValueView& input : inputs)
    writer.add_input(input.name, type_of(input));
  for (const ValueView& output : outputs_of(nodes))
    writer.add_output(output.name, type_of(output));
  return std::move(writer).finish(ir_version_, opset_);
}

}  // namespace latebind::provider
