#include "core/onnx/tensor_proto.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/graph/onnx_schema.h"
#include "core/graph/onnx_structure.h"
#include "core/graph/onnx_types.h"

namespace latebind::onnx {
namespace {

using graph::ProtobufField;
using graph::ProtobufFields;
using graph::ProtobufKind;
using graph::TensorProto;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kNamesMax = 10'000'000;

}  // namespace

void append(std::vector<std::byte>& bytes, Bytes more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

void own(Constant& constant, std::vector<std::byte> bytes) {
  auto owned = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  constant.data = *owned;
  constant.owned = std::move(owned);
}

// Stores numbers that a model lists one by one instead of as raw data: the lowest `size` bytes of each.
void own(Constant& constant, std::span<const std::int64_t> numbers, std::size_t size) {
  std::vector<std::byte> bytes;
  bytes.reserve(numbers.size() * size);
  for (const std::int64_t number : numbers) {
    for (std::size_t i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFFU));
  }
  own(constant, std::move(bytes));
}

// Marks the data as read if it has as many numbers as the shape says.
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

std::string TensorReader::named(const ProtobufField& field) {
  count_name();
  return std::string(damaged ? std::string_view() : field.text());
}

void TensorReader::count_name() {
  if (++names > kNamesMax) damaged = true;
}

// Reads one integer, or a packed list: varints of at most ten bytes.
std::vector<std::int64_t> TensorReader::integers(const ProtobufField& field) {
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

// Reads a TensorProto.
Constant TensorReader::tensor(Bytes bytes, std::string* name) {
  Constant constant;
  ProtobufFields fields(bytes);
  bool is_elsewhere = false;
  bool has_place = true;
  graph::ExternalPlace place;
  std::vector<std::int64_t> numbers;  // integers outside of the raw data
  std::vector<std::byte> parts;       // float_data or double_data that is spread over several fields
  Bytes packed;
  while (const auto field = fields.next()) {
    switch (field->number) {
      case TensorProto::kDims:
        for (const std::int64_t size : integers(*field)) {
          count_name();
          if (!damaged) constant.shape.push_back(size);
        }
        break;
      case TensorProto::kDataType:
        constant.type = graph::element_type_of_onnx(static_cast<std::int64_t>(field->value));
        break;
      case TensorProto::kRawData:
        constant.data = field->bytes;
        break;
      case TensorProto::kFloatData:  // packed like raw data, or one by one
      case TensorProto::kDoubleData:
        if (parts.empty() && packed.empty()) {
          packed = field->bytes;
        } else if (parts.size() <= kConstantElementsMax * 8) {
          if (parts.empty()) append(parts, packed.first(std::min(packed.size(), kConstantElementsMax * 8 + 1)));
          append(parts, field->bytes.first(std::min(field->bytes.size(), kConstantElementsMax * 8 + 1)));
        }
        break;
      case TensorProto::kInt32Data:
      case TensorProto::kInt64Data:
      case TensorProto::kUint64Data:
        if (field->bytes.size() > kConstantElementsMax * 10 || numbers.size() > kConstantElementsMax) break;
        for (const std::int64_t number : integers(*field))
          numbers.push_back(number);
        break;
      case TensorProto::kName:
        if (name != nullptr) *name = named(*field);
        break;
      case TensorProto::kExternalData:
        has_place = place.take(field->bytes) && has_place;
        break;
      case TensorProto::kDataLocation:
        is_elsewhere = field->value == TensorProto::kExternal;
        break;
      default:
        break;
    }
  }
  finish(fields);
  const std::size_t size = constant.type ? core::size_of(*constant.type) : 0;
  if (is_elsewhere) {
    constant.data = external && has_place ? place.data_in(external(place.location)).value_or(Bytes()) : Bytes();
    if (constant.data.empty()) return constant;
    take(constant);
    return constant;
  }
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

}  // namespace latebind::onnx
