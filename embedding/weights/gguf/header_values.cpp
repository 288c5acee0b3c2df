#include <fmt/format.h>

#include <utility>

#include "core/text/quote.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

using core::quoted;
using core::Result;
using core::Status;
using core::StatusCode;

Status GgufHeader::wrong_type(std::string_view key, std::string_view wanted) const {
  return {StatusCode::kInvalidModel, fmt::format("{}: the value of {} is not {}", name_, quoted(key), wanted)};
}

Result<std::optional<std::string_view>> GgufHeader::text(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return std::optional<std::string_view>();
  if (const auto* const text = std::get_if<std::string_view>(value)) return std::optional(*text);
  return wrong_type(key, "a text");
}

Result<std::optional<std::uint64_t>> GgufHeader::whole(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return std::optional<std::uint64_t>();
  if (const auto* const whole = std::get_if<std::uint64_t>(value)) return std::optional(*whole);
  return wrong_type(key, "a whole number from 0");
}

Result<std::optional<double>> GgufHeader::number(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return std::optional<double>();
  if (const auto* const number = std::get_if<double>(value)) return std::optional(*number);
  return wrong_type(key, "a floating-point number");
}

Result<std::optional<bool>> GgufHeader::flag(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return std::optional<bool>();
  if (const auto* const flag = std::get_if<bool>(value)) return std::optional(*flag);
  return wrong_type(key, "true or false");
}

Result<std::optional<std::vector<std::string_view>>> GgufHeader::texts(std::string_view key) const {
  using Texts = std::optional<std::vector<std::string_view>>;
  const GgufValue* const value = find(key);
  if (value == nullptr) return Texts();
  const auto* const array = std::get_if<GgufArray>(value);
  if (array == nullptr || array->type != GgufValueType::kString) return wrong_type(key, "an array of texts");
  std::vector<std::string_view> texts;
  texts.reserve(array->count);
  std::span<const std::byte> rest = array->bytes;
  for (std::size_t i = 0; i < array->count; ++i) {
    const auto size = static_cast<std::size_t>(gguf_number_at<std::uint64_t>(rest.data()));
    texts.push_back(gguf_text_of(rest.subspan(sizeof(std::uint64_t), size)));
    rest = rest.subspan(sizeof(std::uint64_t) + size);
  }
  return Texts(std::move(texts));
}

Result<std::optional<std::vector<float>>> GgufHeader::numbers(std::string_view key) const {
  using Numbers = std::optional<std::vector<float>>;
  const GgufValue* const value = find(key);
  if (value == nullptr) return Numbers();
  const auto* const array = std::get_if<GgufArray>(value);
  if (array == nullptr || array->type != GgufValueType::kF32) return wrong_type(key, "an array of f32 numbers");
  std::vector<float> numbers(array->count);
  for (std::size_t i = 0; i < array->count; ++i)
    numbers[i] = gguf_number_at<float>(array->bytes.data() + i * sizeof(float));
  return Numbers(std::move(numbers));
}

Result<std::optional<std::vector<std::uint64_t>>> GgufHeader::wholes(std::string_view key) const {
  using Wholes = std::optional<std::vector<std::uint64_t>>;
  const GgufValue* const value = find(key);
  if (value == nullptr) return Wholes();
  const auto* const array = std::get_if<GgufArray>(value);
  if (array == nullptr || array->type == GgufValueType::kString) return wrong_type(key, "an array of whole numbers");
  const std::size_t size = bytes_of_gguf_value(array->type);
  std::vector<std::uint64_t> wholes(array->count);
  for (std::size_t i = 0; i < array->count; ++i) {
    const GgufValue element = gguf_scalar_at(array->type, array->bytes.data() + i * size);
    const auto* const whole = std::get_if<std::uint64_t>(&element);
    if (whole == nullptr) return wrong_type(key, "an array of whole numbers from 0");
    wholes[i] = *whole;
  }
  return Wholes(std::move(wholes));
}

Result<std::optional<std::string_view>> GgufHeader::bytes(std::string_view key) const {
  const GgufValue* const value = find(key);
  if (value == nullptr) return std::optional<std::string_view>();
  const auto* const array = std::get_if<GgufArray>(value);
  const bool has_bytes = array != nullptr && (array->type == GgufValueType::kU8 || array->type == GgufValueType::kI8);
  if (!has_bytes) return wrong_type(key, "an array of bytes");
  return std::optional(gguf_text_of(array->bytes));
}

}  // namespace latebind::embedding
