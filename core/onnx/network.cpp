#include "core/onnx/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/graph/onnx_schema.h"
#include "core/graph/protobuf.h"
#include "core/onnx/tensor_proto.h"

namespace latebind::onnx {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::AttributeProto;
using graph::FunctionProto;
using graph::GraphProto;
using graph::ModelProto;
using graph::NodeProto;
using graph::OperatorSetIdProto;
using graph::ProtobufField;
using graph::ProtobufFields;
using graph::ProtobufKind;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kNodesMax = 1'000'000;
constexpr std::size_t kNetworksMax = 100'000;
constexpr unsigned kNestedMax = 16;
constexpr std::size_t kTextMax = 256;

// Returns the version of ONNX's own operators that a model or a function declares in its field `number`; 0 if it
// declares none.
std::int64_t opset_in(Bytes bytes, std::uint32_t number) {
  std::int64_t version = 0;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number != number || field->kind != ProtobufKind::kBytes) continue;
    const std::string_view domain = graph::text_in(field->bytes, OperatorSetIdProto::kDomain);
    if (!domain.empty() && domain != "ai.onnx") continue;
    ProtobufFields parts(field->bytes);
    while (const auto part = parts.next()) {
      if (part->number == OperatorSetIdProto::kVersion && part->kind == ProtobufKind::kVarint)
        version = static_cast<std::int64_t>(part->value);
    }
  }
  return version;
}

struct Reader : TensorReader {
  std::size_t nodes = 0;
  std::size_t networks = 0;
  std::int64_t opset = 0;  // of the nodes being read

  std::shared_ptr<Network> network(Bytes bytes, unsigned depth);
  Node node(Bytes bytes, unsigned depth);
  void attribute(Bytes bytes, Node& node, unsigned depth);
  std::shared_ptr<const Network> function(Bytes bytes, std::string& key);
};

void Reader::attribute(Bytes bytes, Node& node, unsigned depth) {
  Attribute attribute;
  std::string name;
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> floats;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) return;
    switch (field->number) {
      case AttributeProto::kName:
        name = named(*field);
        break;
      case AttributeProto::kFloat: {
        std::uint32_t bits = 0;
        if (field->bytes.size() == sizeof bits) {
          for (std::size_t i = 0; i < sizeof bits; ++i)
            bits |= std::to_integer<std::uint32_t>(field->bytes[i]) << (8 * i);
        }
        attribute.number = std::bit_cast<float>(bits);
        attribute.text = fmt::format("{:g}", *attribute.number);
        break;
      }
      case AttributeProto::kInt:
        attribute.integer = static_cast<std::int64_t>(field->value);
        attribute.text = fmt::to_string(*attribute.integer);
        break;
      case AttributeProto::kString:
        attribute.text = std::string(field->text().substr(0, kTextMax));
        break;
      case AttributeProto::kTensor:
        attribute.tensor = tensor(field->bytes, nullptr);
        break;
      case AttributeProto::kGraph:
      case AttributeProto::kGraphs:
        attribute.networks.push_back(network(field->bytes, depth + 1));
        break;
      case AttributeProto::kFloats:
        append(floats, field->bytes.first(std::min(field->bytes.size(), kConstantElementsMax * 4)));
        if (floats.size() > kConstantElementsMax * 4) floats.clear();
        break;
      case AttributeProto::kInts:
        if (field->bytes.size() > kConstantElementsMax * 10 || numbers.size() > kConstantElementsMax) break;
        for (const std::int64_t one : integers(*field)) {
          if (attribute.text.size() < kTextMax)
            attribute.text += (attribute.text.empty() ? "" : ",") + fmt::to_string(one);
          numbers.push_back(one);
        }
        break;
      case AttributeProto::kRefAttrName:
        attribute.of_caller = named(*field);
        break;
      default:
        break;
    }
  }
  finish(fields);
  const bool is_list = name == "value_ints" || name == "value_floats";
  if (is_list && !attribute.tensor) {
    Constant list;
    list.type = name == "value_ints" ? core::ElementType::kI64 : core::ElementType::kF32;
    if (name == "value_ints") own(list, numbers, core::size_of(*list.type));
    if (name == "value_floats") own(list, std::move(floats));
    list.shape = {static_cast<std::int64_t>(list.data.size() / core::size_of(*list.type))};
    take(list);
    attribute.tensor = std::move(list);
  }
  node.attributes[std::move(name)] = std::move(attribute);
}

Node Reader::node(Bytes bytes, unsigned depth) {
  Node node;
  node.opset = opset;
  if (++nodes > kNodesMax) damaged = true;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) return node;
    switch (field->number) {
      case NodeProto::kInput:
        node.inputs.push_back(named(*field));
        break;
      case NodeProto::kOutput:
        node.outputs.push_back(named(*field));
        break;
      case NodeProto::kName:
        node.name = named(*field);
        break;
      case NodeProto::kOpType:
        node.op = named(*field);
        break;
      case NodeProto::kAttribute:
        attribute(field->bytes, node, depth);
        break;
      case NodeProto::kDomain:
        node.domain = named(*field);
        if (node.domain == "ai.onnx") node.domain.clear();
        break;
      case NodeProto::kOverload:
        node.overload = named(*field);
        break;
      default:
        break;
    }
  }
  finish(fields);
  return node;
}

std::shared_ptr<Network> Reader::network(Bytes bytes, unsigned depth) {
  auto made = std::make_shared<Network>();
  if (depth > kNestedMax || ++networks > kNetworksMax) {
    damaged = true;
    return made;
  }
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) break;
    switch (field->number) {
      case GraphProto::kNode:
        made->nodes.push_back(node(field->bytes, depth));
        break;
      case GraphProto::kInitializer: {
        std::string name;
        Constant constant = tensor(field->bytes, &name);
        made->constants[std::move(name)] = std::move(constant);
        break;
      }
      case GraphProto::kSparseInitializer: {  // SparseTensorProto: its numbers and 0
        Constant constant;
        std::string name;
        constant.type = tensor(graph::sub_message(field->bytes, graph::SparseTensorProto::kValues), &name).type;
        made->constants[std::move(name)] = std::move(constant);
        break;
      }
      case GraphProto::kInput:
      case GraphProto::kOutput:
      case GraphProto::kValueInfo: {
        count_name();
        std::string name{graph::text_in(field->bytes, graph::ValueInfoProto::kName)};
        if (field->number == GraphProto::kInput) made->inputs.push_back(name);
        if (field->number == GraphProto::kOutput) made->outputs.push_back(name);
        auto declared = graph::read_value_info(field->bytes);
        if (!declared) damaged = true;
        made->declared[std::move(name)] = declared.value_or(Declared());
        break;
      }
      default:
        break;
    }
  }
  finish(fields);
  // Old files list the weights among the inputs, too.
  std::erase_if(made->inputs, [&](const std::string& name) { return made->constants.contains(name); });
  return made;
}

// Reads a FunctionProto: its nodes, and the names of its inputs and outputs.
std::shared_ptr<const Network> Reader::function(Bytes bytes, std::string& key) {
  auto made = std::make_shared<Network>();
  std::string name;
  std::string domain;
  std::string overload;
  Node defaults;
  const std::int64_t of_model = opset;
  if (const std::int64_t own = opset_in(bytes, FunctionProto::kOpsetImport); own != 0) opset = own;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) break;
    if (field->number == FunctionProto::kName) name = named(*field);
    if (field->number == FunctionProto::kInput) made->inputs.push_back(named(*field));
    if (field->number == FunctionProto::kOutput) made->outputs.push_back(named(*field));
    if (field->number == FunctionProto::kNode) made->nodes.push_back(node(field->bytes, 1));
    if (field->number == FunctionProto::kDomain) domain = named(*field);
    if (field->number == FunctionProto::kAttributeProto) attribute(field->bytes, defaults, 1);
    if (field->number == FunctionProto::kOverload) overload = named(*field);
  }
  finish(fields);
  opset = of_model;
  made->defaults = std::move(defaults.attributes);
  key = function_key(domain, name, overload);
  return made;
}

}  // namespace

Result<OnnxNetwork> read_onnx_network(Bytes bytes, std::string_view name, const ExternalData& external) {
  Reader reader;
  reader.external = external;
  reader.opset = opset_in(bytes, ModelProto::kOpsetImport);
  OnnxNetwork model;
  ProtobufFields fields(bytes);
  bool has_graph = false;
  while (const auto field = fields.next()) {
    if (field->number == ModelProto::kGraph && field->kind == ProtobufKind::kBytes) {
      // Protobuf readers would merge two graphs into one.
      if (std::exchange(has_graph, true)) reader.damaged = true;
      model.network = std::move(*reader.network(field->bytes, 0));
    }
    if (field->number == ModelProto::kFunctions && field->kind == ProtobufKind::kBytes) {
      std::string key;
      auto made = reader.function(field->bytes, key);
      if (!model.functions.try_emplace(std::move(key), std::move(made)).second) reader.damaged = true;
    }
    if (reader.damaged) break;
  }
  reader.finish(fields);
  if (!has_graph || reader.damaged) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: not an ONNX model, damaged, or larger than is examined", name));
  }
  return model;
}

}  // namespace latebind::onnx
