#include "server/protocols/kserve_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "core/text/counted.h"

namespace latebind::server::kserve {

using core::ElementType;

namespace {

// Checks one element and stores it in memory.
template <class T>
Problem put_number(const Json& value, std::byte* to) {
  T number{};
  if constexpr (std::is_floating_point_v<T>) {
    if (!value.is_number()) return "holds something that is not a number";
    const auto given = value.get<double>();
    if (std::abs(given) > static_cast<double>(std::numeric_limits<T>::max())) {
      return "holds a number that is out of its type's range";
    }
    number = static_cast<T>(given);
  } else {
    const auto given = value.whole<T>();
    if (!given) return "holds something that is not a whole number of its type";
    number = *given;
  }
  std::memcpy(to, &number, sizeof(number));
  return std::nullopt;
}

Problem put_bool(const Json& value, std::byte* to) {
  if (!value.is_boolean()) return "holds something other than true and false";
  *to = std::byte{value.get<bool>()};
  return std::nullopt;
}

using Put = Problem (*)(const Json& value, std::byte* to);

// Returns null for types that cannot be expressed in JSON.
Put put_of(ElementType type) {
  switch (type) {
    case ElementType::kBool:
      return put_bool;
    case ElementType::kI8:
      return put_number<std::int8_t>;
    case ElementType::kU8:
      return put_number<std::uint8_t>;
    case ElementType::kI16:
      return put_number<std::int16_t>;
    case ElementType::kU16:
      return put_number<std::uint16_t>;
    case ElementType::kI32:
      return put_number<std::int32_t>;
    case ElementType::kU32:
      return put_number<std::uint32_t>;
    case ElementType::kI64:
      return put_number<std::int64_t>;
    case ElementType::kU64:
      return put_number<std::uint64_t>;
    case ElementType::kF32:
      return put_number<float>;
    case ElementType::kF64:
      return put_number<double>;
    default:
      return nullptr;
  }
}

// Calls `each` with every element, in order. The nesting and the lengths of the arrays must match `sizes`.
template <class Each>
Problem walk(const Json& value, std::span<const std::int64_t> sizes, const Each& each) {
  if (sizes.empty()) return each(value);
  if (!value.is_array()) return "is not nested like its shape";
  std::int64_t count = 0;
  for (const Json& one : value) {
    if (++count > sizes.front()) break;
    if (auto problem = walk(one, sizes.subspan(1), each)) return problem;
  }
  if (count != sizes.front()) return "does not have as many elements as its shape";
  return std::nullopt;
}

// `element_count` is that of the input's shape. Memory is not allocated for it in advance, because the shape may be
// false.
template <class Read>
Problem read_elements(const InputBody& input, std::size_t element_count, const Read& read) {
  std::size_t count = 0;
  const auto each = [&](const Json& value) -> Problem {
    auto problem = read(value);
    if (problem) *problem += fmt::format(", at element {}", count);
    ++count;
    return problem;
  };
  if (!input.data->is_array()) {
    if (input.shape.rank() > 0) return "must be an array";
    return each(*input.data);
  }
  const bool is_nested = !input.data->empty() && input.data->front().is_array();
  if (is_nested) return walk(*input.data, input.shape.dims(), each);
  const std::array flat{static_cast<std::int64_t>(element_count)};
  return walk(*input.data, flat, each);
}

Problem read_json(const InputBody& input, std::size_t element_count, std::size_t& /*texts_room*/, NamedTensor& tensor) {
  const std::size_t size = core::size_of(tensor.type);
  const Put put = put_of(tensor.type);
  if (put == nullptr) return "must be binary: JSON cannot represent this type";
  return read_elements(input, element_count, [&](const Json& value) {
    tensor.data.resize(tensor.data.size() + size);
    return put(value, tensor.data.data() + (tensor.data.size() - size));
  });
}

// Returns whether the texts are kept, and if so takes them from the room left.
bool take_room(std::size_t& texts_room, std::size_t texts) {
  if (texts > texts_room) return false;
  texts_room -= texts;
  return true;
}

Problem read_json(const InputBody& input, std::size_t element_count, std::size_t& texts_room, TextTensor& tensor) {
  const bool is_kept = take_room(texts_room, element_count);
  return read_elements(input, element_count, [&](const Json& value) -> Problem {
    if (!value.is_string()) return fmt::format("holds {} instead of a string", kind_of(value));
    return is_kept ? read_text(value, tensor.texts.emplace_back()) : std::nullopt;
  });
}

Problem read_binary(std::string_view bytes, std::size_t element_count, std::size_t& /*texts_room*/,
                    NamedTensor& tensor) {
  const std::size_t size = core::size_of(tensor.type);
  // Cannot overflow: the count is below 2^48, and sizes are at most 8.
  if (bytes.size() != element_count * size) {
    return fmt::format("has {} of data; its shape and type require {}", core::counted(bytes.size(), "byte"),
                       element_count * size);
  }
  tensor.data.resize(bytes.size());
  std::ranges::transform(bytes, tensor.data.begin(), [](char byte) { return static_cast<std::byte>(byte); });
  if (tensor.type == ElementType::kBool &&
      std::ranges::any_of(tensor.data, [](std::byte byte) { return byte > std::byte{1}; })) {
    return "has bytes other than 0 and 1, the only values of BOOL";
  }
  return std::nullopt;
}

Problem read_binary(std::string_view bytes, std::size_t element_count, std::size_t& texts_room, TextTensor& tensor) {
  constexpr std::size_t kLength = 4;
  if (element_count > bytes.size() / kLength) return "has less data than its shape requires";
  const bool is_kept = take_room(texts_room, element_count);
  if (is_kept) tensor.texts.reserve(element_count);
  for (std::size_t i = 0; i < element_count; ++i) {
    if (bytes.size() < kLength) return "has less data than its shape requires";
    std::size_t length = 0;
    for (std::size_t at = kLength; at-- > 0;)
      length = length << 8U | static_cast<unsigned char>(bytes[at]);
    bytes.remove_prefix(kLength);
    if (length > bytes.size()) return fmt::format("has an element at {} that is longer than the rest of its data", i);
    if (is_kept) tensor.texts.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  if (!bytes.empty()) return "has more data than its shape requires";
  return std::nullopt;
}

template <class Tensor>
Problem fill(const InputBody& input, std::string_view& binary, std::size_t& texts_room, Tensor& tensor) {
  tensor.name = input.name;
  tensor.shape = input.shape;
  const std::size_t element_count = *input.shape.element_count();
  if (!input.binary_bytes) {
    if (!input.data) return "has neither data nor binary_data_size";
    return read_json(input, element_count, texts_room, tensor);
  }
  if (input.data) return "has both data and binary_data_size";
  if (*input.binary_bytes > binary.size()) {
    return fmt::format("has a binary_data_size of {}; the body has {} left", core::counted(*input.binary_bytes, "byte"),
                       binary.size());
  }
  const std::string_view bytes = binary.substr(0, *input.binary_bytes);
  binary.remove_prefix(bytes.size());
  return read_binary(bytes, element_count, texts_room, tensor);
}

}  // namespace

Problem read_data(const InputBody& input, std::string_view& binary, std::size_t& texts_room, NamedTensor& tensor) {
  return fill(input, binary, texts_room, tensor);
}

Problem read_data(const InputBody& input, std::string_view& binary, std::size_t& texts_room, TextTensor& tensor) {
  return fill(input, binary, texts_room, tensor);
}

}  // namespace latebind::server::kserve
