#include "core/onnx/network.h"

#include <fmt/format.h>

#include <bit>
#include <set>
#include <utility>

#include "core/graph/onnx_types.h"
#include "core/graph/protobuf.h"

namespace latebind::onnx {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using graph::ProtobufField;
using graph::ProtobufFields;
using graph::ProtobufKind;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kNodesMax = 1'000'000;
constexpr unsigned kNestedMax = 16;

struct Reader {
  std::size_t nodes = 0;
  bool damaged = false;

  std::shared_ptr<const Network> network(Bytes bytes, unsigned depth);
  Node node(Bytes bytes, unsigned depth);
  void attribute(Bytes bytes, Node& node, unsigned depth);
  Constant tensor(Bytes bytes, std::string* name);
  Declared value(Bytes bytes);
  void finish(const ProtobufFields& fields) { damaged = damaged || fields.damaged(); }
};

std::vector<std::int64_t> integers_of(const ProtobufField& field) {
  if (field.kind == ProtobufKind::kVarint) return {static_cast<std::int64_t>(field.value)};
  // Packed.
  std::vector<std::int64_t> found;
  std::uint64_t number = 0;
  unsigned shift = 0;
  for (const std::byte byte : field.bytes) {
    number |= (std::to_integer<std::uint64_t>(byte) & 0x7FU) << shift;
    shift += 7;
    if ((std::to_integer<unsigned>(byte) & 0x80U) != 0 && shift < 64) continue;
    found.push_back(static_cast<std::int64_t>(number));
    number = 0;
    shift = 0;
  }
  return found;
}

// Numbers that a model has one by one instead of as raw data: each in so many bytes, its lowest ones.
void own(Constant& constant, std::span<const std::int64_t> numbers, std::size_t size) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  bytes->reserve(numbers.size() * size);
  for (const std::int64_t number : numbers) {
    for (std::size_t i = 0; i < size; ++i)
      bytes->push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU));
  }
  constant.data = *bytes;
  constant.owned = std::move(bytes);
}

// TensorProto.
Constant Reader::tensor(Bytes bytes, std::string* name) {
  Constant constant;
  ProtobufFields fields(bytes);
  bool is_elsewhere = false;
  std::vector<std::int64_t> numbers;  // int32_data, int64_data or uint64_data
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        for (const std::int64_t size : integers_of(*field))
          constant.shape.push_back(size);
        break;
      case 2:
        constant.type = graph::element_type_of_onnx(static_cast<int>(field->value & 0xFFU));
        break;
      case 4:   // float_data
      case 9:   // raw_data
      case 10:  // double_data: packed, as raw data has them
        if (field->bytes.size() > constant.data.size()) constant.data = field->bytes;
        break;
      case 5:
      case 7:
      case 11:
        if (field->bytes.size() > kConstantElementsMax * 10 || numbers.size() > kConstantElementsMax) break;
        for (const std::int64_t number : integers_of(*field))
          numbers.push_back(number);
        break;
      case 8:
        if (name != nullptr) *name = std::string(field->text());
        break;
      case 14:
        is_elsewhere = field->value == 1;
        break;
      default:
        break;
    }
  }
  finish(fields);
  const std::size_t size = constant.type ? core::size_of(*constant.type) : 0;
  if (constant.data.empty() && !numbers.empty() && size > 0) own(constant, numbers, size);
  std::size_t elements = 1;
  for (const std::int64_t length : constant.shape) {
    if (length < 0 || (length > 0 && elements > kConstantElementsMax)) elements = kConstantElementsMax + 1;
    if (elements <= kConstantElementsMax) elements *= static_cast<std::size_t>(length);
  }
  constant.is_read =
      !is_elsewhere && size > 0 && elements <= kConstantElementsMax && constant.data.size() == elements * size;
  if (!constant.is_read) constant.data = {};
  return constant;
}

// ValueInfoProto: type, tensor_type, elem_type and shape.
Declared Reader::value(Bytes bytes) {
  Declared declared;
  ProtobufFields fields(graph::sub_message(graph::sub_message(bytes, 2), 1));
  while (const auto field = fields.next()) {
    if (field->number == 1) declared.type = graph::element_type_of_onnx(static_cast<int>(field->value & 0xFFU));
    if (field->number != 2) continue;
    declared.has_shape = true;
    ProtobufFields sizes(field->bytes);
    while (const auto one = sizes.next()) {
      if (one->number != 1) continue;
      std::int64_t size = -1;
      ProtobufFields parts(one->bytes);
      while (const auto part = parts.next()) {
        if (part->number == 1 && part->kind == ProtobufKind::kVarint) size = static_cast<std::int64_t>(part->value);
      }
      declared.shape.push_back(size >= 0 ? size : -1);
    }
    finish(sizes);
  }
  finish(fields);
  return declared;
}

void Reader::attribute(Bytes bytes, Node& node, unsigned depth) {
  Attribute attribute;
  std::string name;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        name = std::string(field->text());
        break;
      case 2: {
        std::uint32_t bits = 0;
        if (field->bytes.size() == sizeof bits) {
          for (std::size_t i = 0; i < sizeof bits; ++i)
            bits |= std::to_integer<std::uint32_t>(field->bytes[i]) << (8 * i);
        }
        attribute.number = std::bit_cast<float>(bits);
        attribute.text = fmt::format("{:g}", *attribute.number);
        break;
      }
      case 3:
        attribute.integer = static_cast<std::int64_t>(field->value);
        attribute.text = fmt::to_string(*attribute.integer);
        break;
      case 4:
        attribute.text = std::string(field->text().substr(0, 256));
        break;
      case 5:
        attribute.tensor = tensor(field->bytes, nullptr);
        break;
      case 6:
      case 11:
        attribute.networks.push_back(network(field->bytes, depth + 1));
        break;
      case 8:
        for (const std::int64_t one : integers_of(*field)) {
          if (attribute.text.size() < 256) attribute.text += (attribute.text.empty() ? "" : ",") + fmt::to_string(one);
        }
        break;
      default:
        break;
    }
  }
  finish(fields);
  node.attributes[std::move(name)] = std::move(attribute);
}

Node Reader::node(Bytes bytes, unsigned depth) {
  Node node;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        node.inputs.emplace_back(field->text());
        break;
      case 2:
        node.outputs.emplace_back(field->text());
        break;
      case 3:
        node.name = std::string(field->text());
        break;
      case 4:
        node.op = std::string(field->text());
        break;
      case 5:
        attribute(field->bytes, node, depth);
        break;
      case 7:
        node.domain = std::string(field->text());
        if (node.domain == "ai.onnx") node.domain.clear();
        break;
      default:
        break;
    }
  }
  finish(fields);
  if (++nodes > kNodesMax) damaged = true;
  return node;
}

std::shared_ptr<const Network> Reader::network(Bytes bytes, unsigned depth) {
  auto made = std::make_shared<Network>();
  if (depth > kNestedMax) {
    damaged = true;
    return made;
  }
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) break;
    switch (field->number) {
      case 1:
        made->nodes.push_back(node(field->bytes, depth));
        break;
      case 5: {
        std::string name;
        Constant constant = tensor(field->bytes, &name);
        made->constants[std::move(name)] = constant;
        break;
      }
      case 11:
      case 12:
      case 13: {
        std::string name{graph::text_in(field->bytes, 1)};
        if (field->number == 11) made->inputs.push_back(name);
        if (field->number == 12) made->outputs.push_back(name);
        made->declared[std::move(name)] = value(field->bytes);
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

// FunctionProto: its nodes, and the names of what goes in and comes out.
std::shared_ptr<const Network> function_of(Reader& reader, Bytes bytes, std::string& key) {
  auto made = std::make_shared<Network>();
  std::string name;
  std::string domain;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (field->number == 1) name = std::string(field->text());
    if (field->number == 4) made->inputs.emplace_back(field->text());
    if (field->number == 5) made->outputs.emplace_back(field->text());
    if (field->number == 7) made->nodes.push_back(reader.node(field->bytes, 1));
    if (field->number == 10) domain = std::string(field->text());
  }
  reader.finish(fields);
  key = domain + ":" + name;
  return made;
}

}  // namespace

Result<OnnxNetwork> read_onnx_network(Bytes bytes, std::string_view name) {
  Reader reader;
  OnnxNetwork model;
  ProtobufFields fields(bytes);
  bool has_graph = false;
  while (const auto field = fields.next()) {
    if (field->number == 7 && field->kind == ProtobufKind::kBytes) {
      model.network = *reader.network(field->bytes, 0);
      has_graph = true;
    }
    if (field->number == 25 && field->kind == ProtobufKind::kBytes) {
      std::string key;
      auto made = function_of(reader, field->bytes, key);
      model.functions[std::move(key)] = std::move(made);
    }
  }
  reader.finish(fields);
  if (!has_graph || reader.damaged) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: not an ONNX model, or damaged", name));
  }
  return model;
}

}  // namespace latebind::onnx
