#include "core/onnx/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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
constexpr std::size_t kNetworksMax = 100'000;
constexpr std::size_t kNamesMax = 10'000'000;
constexpr unsigned kNestedMax = 16;
constexpr std::size_t kTextMax = 256;

struct Reader {
  std::size_t nodes = 0;
  std::size_t networks = 0;
  std::size_t names = 0;
  bool damaged = false;

  std::shared_ptr<Network> network(Bytes bytes, unsigned depth);
  Node node(Bytes bytes, unsigned depth);
  void attribute(Bytes bytes, Node& node, unsigned depth);
  Constant tensor(Bytes bytes, std::string* name);
  Declared value(Bytes bytes);
  std::shared_ptr<const Network> function(Bytes bytes, std::string& key);
  std::vector<std::int64_t> integers(const ProtobufField& field);
  std::string named(const ProtobufField& field) {
    if (++names > kNamesMax) damaged = true;
    return std::string(damaged ? std::string_view() : field.text());
  }
  void finish(const ProtobufFields& fields) { damaged = damaged || fields.damaged(); }
};

// One, or packed: varints of at most ten bytes.
std::vector<std::int64_t> Reader::integers(const ProtobufField& field) {
  if (field.kind == ProtobufKind::kVarint) return {static_cast<std::int64_t>(field.value)};
  std::vector<std::int64_t> found;
  std::uint64_t number = 0;
  unsigned shift = 0;
  for (const std::byte byte : field.bytes) {
    if (shift >= 64 || field.kind != ProtobufKind::kBytes) damaged = true;
    if (damaged) return {};
    number |= (std::to_integer<std::uint64_t>(byte) & 0x7FU) << shift;
    shift += 7;
    if ((std::to_integer<unsigned>(byte) & 0x80U) != 0) continue;
    found.push_back(static_cast<std::int64_t>(number));
    number = 0;
    shift = 0;
  }
  if (shift != 0) damaged = true;
  return found;
}

std::optional<core::ElementType> type_numbered(std::uint64_t number) {
  return number <= 0xFFU ? graph::element_type_of_onnx(static_cast<int>(number)) : std::nullopt;
}

void append(std::vector<std::byte>& to, Bytes more) {
  to.insert(to.end(), more.begin(), more.end());
}

void own(Constant& constant, std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  constant.data = *owned;
  constant.owned = std::move(owned);
}

// Numbers that a model has one by one instead of as raw data: each in so many bytes, its lowest ones.
void own(Constant& constant, std::span<const std::int64_t> numbers, std::size_t size) {
  std::vector<std::byte> bytes;
  bytes.reserve(numbers.size() * size);
  for (const std::int64_t number : numbers) {
    for (std::size_t i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU));
  }
  own(constant, std::move(bytes));
}

// Where the numbers are as many as the shape says, they are read.
void take(Constant& constant) {
  const std::size_t size = constant.type ? core::size_of(*constant.type) : 0;
  std::size_t elements = 1;
  for (const std::int64_t length : constant.shape) {
    const bool is_much = length < 0 || static_cast<std::uint64_t>(length) > kConstantElementsMax;
    elements = is_much ? kConstantElementsMax + 1 : elements * static_cast<std::size_t>(length);
    if (elements > kConstantElementsMax) break;
  }
  constant.is_read = size > 0 && elements <= kConstantElementsMax && constant.data.size() == elements * size;
  if (constant.is_read) return;
  constant.data = {};
  constant.owned = nullptr;
}

// TensorProto.
Constant Reader::tensor(Bytes bytes, std::string* name) {
  Constant constant;
  ProtobufFields fields(bytes);
  bool is_elsewhere = false;
  std::vector<std::int64_t> numbers;  // int32_data, int64_data or uint64_data
  std::vector<std::byte> parts;       // float_data or double_data that is in several fields
  Bytes packed;
  while (const auto field = fields.next()) {
    switch (field->number) {
      case 1:
        for (const std::int64_t size : integers(*field)) {
          if (++names > kNamesMax) damaged = true;
          if (!damaged) constant.shape.push_back(size);
        }
        break;
      case 2:
        constant.type = type_numbered(field->value);
        break;
      case 9:  // raw_data
        constant.data = field->bytes;
        break;
      case 4:   // float_data
      case 10:  // double_data: packed, as raw data has them, or one by one
        if (parts.empty() && packed.empty()) {
          packed = field->bytes;
        } else if (parts.size() <= kConstantElementsMax * 8) {
          if (parts.empty()) append(parts, packed.first(std::min(packed.size(), kConstantElementsMax * 8 + 1)));
          append(parts, field->bytes.first(std::min(field->bytes.size(), kConstantElementsMax * 8 + 1)));
        }
        break;
      case 5:
      case 7:
      case 11:
        if (field->bytes.size() > kConstantElementsMax * 10 || numbers.size() > kConstantElementsMax) break;
        for (const std::int64_t number : integers(*field))
          numbers.push_back(number);
        break;
      case 8:
        if (name != nullptr) *name = named(*field);
        break;
      case 14:
        is_elsewhere = field->value == 1;
        break;
      default:
        break;
    }
  }
  finish(fields);
  const std::size_t size = constant.type && !is_elsewhere ? core::size_of(*constant.type) : 0;
  if (size == 0) {
    constant.data = {};
    return constant;
  }
  if (constant.data.empty() && !parts.empty()) own(constant, std::move(parts));
  if (constant.data.empty()) constant.data = packed;
  if (constant.data.empty() && !numbers.empty()) own(constant, numbers, size);
  take(constant);
  return constant;
}

// ValueInfoProto: type, tensor_type, elem_type and shape.
Declared Reader::value(Bytes bytes) {
  Declared declared;
  ProtobufFields fields(graph::sub_message(graph::sub_message(bytes, 2), 1));
  while (const auto field = fields.next()) {
    if (field->number == 1) declared.type = type_numbered(field->value);
    if (field->number != 2) continue;
    declared.has_shape = true;
    ProtobufFields sizes(field->bytes);
    while (const auto one = sizes.next()) {
      if (one->number != 1) continue;
      std::int64_t size = -1;
      ProtobufFields parts(one->bytes);
      while (const auto part = parts.next()) {
        if (part->number == 1 && part->kind == ProtobufKind::kVarint) size = static_cast<std::int64_t>(part->value);
        if (part->number == 2) size = -1;  // a name
      }
      finish(parts);
      if (++names > kNamesMax) damaged = true;
      if (!damaged) declared.shape.push_back(size >= 0 ? size : -1);
    }
    finish(sizes);
  }
  finish(fields);
  return declared;
}

void Reader::attribute(Bytes bytes, Node& node, unsigned depth) {
  Attribute attribute;
  std::string name;
  std::vector<std::int64_t> numbers;
  std::vector<std::byte> floats;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) return;
    switch (field->number) {
      case 1:
        name = named(*field);
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
        attribute.text = std::string(field->text().substr(0, kTextMax));
        break;
      case 5:
        attribute.tensor = tensor(field->bytes, nullptr);
        break;
      case 6:
      case 11:
        attribute.networks.push_back(network(field->bytes, depth + 1));
        break;
      case 7:
        append(floats, field->bytes.first(std::min(field->bytes.size(), kConstantElementsMax * 4)));
        if (floats.size() > kConstantElementsMax * 4) floats.clear();
        break;
      case 8:
        if (field->bytes.size() > kConstantElementsMax * 10 || numbers.size() > kConstantElementsMax) break;
        for (const std::int64_t one : integers(*field)) {
          if (attribute.text.size() < kTextMax)
            attribute.text += (attribute.text.empty() ? "" : ",") + fmt::to_string(one);
          numbers.push_back(one);
        }
        break;
      case 21:
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
    name == "value_ints" ? own(list, numbers, 8) : own(list, std::move(floats));
    list.shape = {static_cast<std::int64_t>(list.data.size() / core::size_of(*list.type))};
    take(list);
    attribute.tensor = std::move(list);
  }
  node.attributes[std::move(name)] = std::move(attribute);
}

Node Reader::node(Bytes bytes, unsigned depth) {
  Node node;
  if (++nodes > kNodesMax) damaged = true;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) return node;
    switch (field->number) {
      case 1:
        node.inputs.push_back(named(*field));
        break;
      case 2:
        node.outputs.push_back(named(*field));
        break;
      case 3:
        node.name = named(*field);
        break;
      case 4:
        node.op = named(*field);
        break;
      case 5:
        attribute(field->bytes, node, depth);
        break;
      case 7:
        node.domain = named(*field);
        if (node.domain == "ai.onnx") node.domain.clear();
        break;
      case 8:
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
      case 1:
        made->nodes.push_back(node(field->bytes, depth));
        break;
      case 5: {
        std::string name;
        Constant constant = tensor(field->bytes, &name);
        made->constants[std::move(name)] = std::move(constant);
        break;
      }
      case 15: {  // SparseTensorProto: its numbers and 0
        Constant constant;
        std::string name;
        constant.type = tensor(graph::sub_message(field->bytes, 1), &name).type;
        made->constants[std::move(name)] = std::move(constant);
        break;
      }
      case 11:
      case 12:
      case 13: {
        if (++names > kNamesMax) damaged = true;
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
std::shared_ptr<const Network> Reader::function(Bytes bytes, std::string& key) {
  auto made = std::make_shared<Network>();
  std::string name;
  std::string domain;
  std::string overload;
  Node defaults;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (damaged) break;
    if (field->number == 1) name = named(*field);
    if (field->number == 4) made->inputs.push_back(named(*field));
    if (field->number == 5) made->outputs.push_back(named(*field));
    if (field->number == 7) made->nodes.push_back(node(field->bytes, 1));
    if (field->number == 10) domain = named(*field);
    if (field->number == 11) attribute(field->bytes, defaults, 1);
    if (field->number == 13) overload = named(*field);
  }
  finish(fields);
  made->defaults = std::move(defaults.attributes);
  key = function_key(domain, name, overload);
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
      // Readers of protobuf make one of two.
      if (std::exchange(has_graph, true)) reader.damaged = true;
      model.network = std::move(*reader.network(field->bytes, 0));
    }
    if (field->number == 25 && field->kind == ProtobufKind::kBytes) {
      std::string key;
      auto made = reader.function(field->bytes, key);
      if (!model.functions.try_emplace(std::move(key), std::move(made)).second) reader.damaged = true;
    }
    if (reader.damaged) break;
  }
  reader.finish(fields);
  if (!has_graph || reader.damaged) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: no ONNX model, damaged, or larger than is looked at", name));
  }
  return model;
}

}  // namespace latebind::onnx
