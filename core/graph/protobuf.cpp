#include "core/graph/protobuf.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace latebind::graph {
namespace {

constexpr unsigned kKindBits = 3;

}  // namespace

std::optional<ProtobufField> ProtobufFields::next() {
  if (damaged() || at_ == message_.size()) return std::nullopt;
  start_ = at_;
  const auto tag = varint();
  // Other readers use only 32 bits of a tag, so they would take a longer one for another field.
  if (!tag || *tag > std::numeric_limits<std::uint32_t>::max() || *tag >> kKindBits == 0) {
    return refuse("no field begins here");
  }
  ProtobufField field;
  field.number = static_cast<std::uint32_t>(*tag >> kKindBits);
  field.kind = static_cast<ProtobufKind>(*tag & 7U);
  std::uint64_t size = 0;
  switch (field.kind) {
    case ProtobufKind::kVarint: {
      const auto value = varint();
      if (!value) return refuse(fmt::format("field {} has no end", field.number));
      field.value = *value;
      return field;
    }
    case ProtobufKind::kFixed64:
      size = 8;
      break;
    case ProtobufKind::kFixed32:
      size = 4;
      break;
    case ProtobufKind::kBytes: {
      const auto length = varint();
      if (!length) return refuse(fmt::format("field {} has no end", field.number));
      size = *length;
      break;
    }
    default:
      return refuse("no field begins here");
  }
  if (const std::size_t left = message_.size() - at_; size > left) {
    return refuse(fmt::format("field {} has {} bytes, but only {} are left", field.number, size, left));
  }
  field.bytes = message_.subspan(at_, static_cast<std::size_t>(size));
  at_ += static_cast<std::size_t>(size);
  return field;
}

std::optional<std::uint64_t> ProtobufFields::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at_ < message_.size(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(message_[at_++]);
    value |= (byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::nullopt_t ProtobufFields::refuse(std::string what) {
  what_is_wrong_ = std::move(what);
  return std::nullopt;
}

std::span<const std::byte> sub_message(std::span<const std::byte> message, std::uint32_t number) {
  std::span<const std::byte> found;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == number && field->kind == ProtobufKind::kBytes) found = field->bytes;
  }
  return found;
}

std::string_view text_in(std::span<const std::byte> message, std::uint32_t number) {
  const auto bytes = sub_message(message, number);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ProtobufTextEntry text_entry_of(std::span<const std::byte> message) {
  ProtobufTextEntry entry;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->kind != ProtobufKind::kBytes) continue;
    if (field->number == 1) entry.key = field->text();
    if (field->number == 2) entry.value = field->text();
  }
  entry.damaged = fields.damaged();
  return entry;
}

}  // namespace latebind::graph
