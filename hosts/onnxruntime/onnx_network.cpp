#include "hosts/onnxruntime/onnx_network.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "core/onnx/tensor_proto.h"
#include "hosts/onnxruntime/onnx_part.h"

namespace latebind::provider {
namespace {

using core::ElementType;

std::optional<ElementType> type_of(const TypeView& view) {
  if (view.type == 0) return std::nullopt;
  return static_cast<ElementType>(view.type);
}

std::vector<std::int64_t> sizes_of(const TypeView& view) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : view.shape)
    sizes.push_back(size >= 0 ? size : -1);
  return sizes;
}

std::span<const std::byte> data_of(const Host& host, const abi::Value* value) {
  std::size_t size = 0;
  host.check(host->GetTensorSizeInBytes(value, &size));
  if (size == 0) return {};
  const void* data = nullptr;
  host.check(host->GetTensorData(value, &data));
  Host::need(data, "data of a tensor");
  return {static_cast<const std::byte*>(data), size};
}

onnx::Constant constant_of(const GraphView& graph, const ValueView& value) {
  const TypeView view = graph.type_of(value);
  onnx::Constant constant;
  constant.type = type_of(view);
  constant.shape = sizes_of(view);
  if (!constant.type) return constant;
  const abi::Value* tensor = nullptr;
  graph.host().check(graph.host()->ValueInfo_GetInitializerValue(value.raw, &tensor));
  constant.data = data_of(graph.host(), Host::need(tensor, "initializer"));
  onnx::take(constant);
  return constant;
}

// The tensor of an attribute, whose value the host transfers to the caller.
onnx::Constant tensor_of(const Host& host, const abi::OpAttr* raw) {
  abi::Value* value = nullptr;
  host.check(host->OpAttr_GetTensorAttributeAsOrtValue(raw, &value));
  Host::need(value, "tensor of an attribute");
  const auto release = [&](abi::Value* owned) { host->ReleaseValue(owned); };
  const std::unique_ptr<abi::Value, decltype(release)> owned(value, release);
  abi::ElementType type{};
  const std::int64_t* shape = nullptr;
  std::size_t rank = 0;
  host.check(host->GetTensorElementTypeAndShapeDataReference(value, &type, &shape, &rank));
  if (Host::need_count(rank, "rank") > 0) Host::need(shape, "shape of a tensor");
  onnx::Constant constant;
  if (const std::int32_t known = latebind_type(type); known != 0) constant.type = static_cast<ElementType>(known);
  constant.shape.assign(shape, shape + rank);
  if (!constant.type) return constant;
  constant.data = data_of(host, value);
  onnx::take(constant);
  const auto bytes = std::make_shared<const std::vector<std::byte>>(constant.data.begin(), constant.data.end());
  constant.data = *bytes;
  constant.owned = bytes;
  return constant;
}

onnx::Attribute attribute_of(const Host& host, const abi::OpAttr* raw) {
  onnx::Attribute made;
  abi::OpAttrType type{};
  host.check(host->OpAttr_GetType(raw, &type));
  std::size_t size = 0;
  if (type == abi::kAttrInt) {
    std::int64_t value = 0;
    host.check(host->ReadOpAttr(raw, type, &value, sizeof value, &size));
    made.integer = value;
    made.text = std::to_string(value);
  } else if (type == abi::kAttrFloat) {
    float value = 0;
    host.check(host->ReadOpAttr(raw, type, &value, sizeof value, &size));
    made.number = value;
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%g", static_cast<double>(value));
    made.text = text.data();
  } else if (type == abi::kAttrTensor) {
    made.tensor = tensor_of(host, raw);
  } else if (type == abi::kAttrString) {
    made.text = attribute_bytes(host, raw, type);
  } else if (type == abi::kAttrInts) {
    for (const std::int64_t value : numbers_of<std::int64_t>(attribute_bytes(host, raw, type)))
      made.text += (made.text.empty() ? "" : ",") + std::to_string(value);
  }
  return made;
}

}  // namespace

onnx::OnnxNetwork onnx_network_of(const GraphView& graph) {
  onnx::OnnxNetwork made;
  onnx::Network& network = made.network;
  const Host& host = graph.host();
  std::set<std::string> known;
  for (const NodeView& view : graph.nodes()) {
    onnx::Node node;
    node.op = view.op;
    node.domain = view.domain == "ai.onnx" ? "" : view.domain;
    node.name = view.name;
    node.opset = view.since;
    for (const auto* values : {&view.inputs, &view.outputs}) {
      for (const ValueView& value : *values) {
        auto& names = values == &view.inputs ? node.inputs : node.outputs;
        names.push_back(value.raw != nullptr ? value.name : "");
        if (value.raw == nullptr || !known.insert(value.name).second) continue;
        const TypeView type = graph.type_of(value);
        network.declared[value.name] = {type_of(type), type.has_shape, sizes_of(type)};
        if (values == &view.outputs) continue;
        if (graph.is_constant(value)) {
          network.constants[value.name] = constant_of(graph, value);
        } else {
          network.inputs.push_back(value.name);
        }
      }
    }
    for (const abi::OpAttr* raw : attributes_of(host, view.raw)) {
      const char* name = nullptr;
      host.check(host->OpAttr_GetName(Host::need(raw, "attribute"), &name));
      node.attributes[Host::need(name, "name of an attribute")] = attribute_of(host, raw);
    }
    network.nodes.push_back(std::move(node));
  }
  return made;
}

}  // namespace latebind::provider
