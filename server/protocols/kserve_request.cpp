#include "server/protocols/kserve_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "core/text/counted.h"
#include "core/text/quote.h"
#include "server/protocols/json_body.h"
#include "server/protocols/kserve_types.h"
#include "server/protocols/role_member.h"

namespace latebind::server::kserve {

using app::Json;
using core::ElementType;
using core::Shape;

namespace {

// More than any model has.
constexpr std::size_t kTensorsMax = 1024;
constexpr std::size_t kNameMax = 1024;
constexpr std::size_t kIdMax = 1024;
constexpr std::size_t kDimensionsMax = std::size_t{1} << 20;

// An input as described in JSON. `data` points into the body.
struct InputBody {
  std::string name;
  const DataType* type = nullptr;
  Shape shape;
  std::optional<std::size_t> binary_bytes;
  std::optional<JsonValue> data;
};

struct RequestBody {
  InferRequest request;
  std::vector<InputBody> inputs;
};

Refusal bad_body(std::string message, std::string_view param) {
  return Refusal{.kind = RefusalKind::kBadRequest, .message = std::move(message), .param = std::string(param)};
}

Json string_schema() {
  return typed_schema("string", "");
}

Json name_schema() {
  Json schema = string_schema();
  schema["maxLength"] = kNameMax;
  return schema;
}

Problem read_short_text(const JsonValue& value, std::size_t bytes_max, std::string& text) {
  if (auto problem = read_text(value, text)) return problem;
  if (text.size() > bytes_max) return fmt::format("has {} bytes; at most {} are allowed", text.size(), bytes_max);
  return std::nullopt;
}

template <class Body>
Problem read_name(const JsonValue& value, Body& body) {
  return read_short_text(value, kNameMax, body.name);
}

// Reads an array of objects.
template <class Item, std::size_t N>
Problem read_objects(const JsonValue& value, const std::array<Member<Item>, N>& members, std::vector<Item>& items) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return "must be an array of objects";
  for (const JsonValue one : array) {
    if (items.size() == kTensorsMax) return fmt::format("has more than {} items", kTensorsMax);
    if (!one.is_object()) return "must be an array of objects";
    Item& item = items.emplace_back();
    if (const auto refusal = read_members(one, members, item)) {
      return fmt::format("is wrong at {}: {}", items.size() - 1, refusal->message);
    }
    const auto same = std::ranges::count(items, item.name, &Item::name);
    if (same > 1) return fmt::format("has {} twice", core::quoted(item.name, 100));
  }
  return std::nullopt;
}

template <class Body>
Problem refuse_shared_memory(const JsonValue& /*value*/, Body& /*body*/) {
  return "is not supported: this server does not share memory with its clients";
}

Json type_schema() {
  Json schema = typed_schema("string", "FP16 and BF16 only as binary data.");
  for (const DataType& type : data_types())
    schema["enum"].push_back(std::string(type.name));
  return schema;
}

Problem read_type(const JsonValue& value, InputBody& body) {
  std::string name;
  if (auto problem = read_text(value, name)) return problem;
  body.type = find_type(name);
  if (body.type == nullptr) return fmt::format("is not a type of the protocol: {}", core::quoted(name, 40));
  return std::nullopt;
}

Json shape_schema() {
  Json schema;
  schema["type"] = "array";
  schema["maxItems"] = core::kRankMax;
  schema["items"] = typed_schema("integer", "");
  schema["items"]["minimum"] = 0;
  return schema;
}

Problem read_shape(const JsonValue& value, InputBody& body) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return "must be an array of sizes";
  std::array<std::int64_t, core::kRankMax> sizes{};
  std::size_t rank = 0;
  for (const JsonValue one : array) {
    if (rank == sizes.size()) return fmt::format("has more than {} sizes", sizes.size());
    if (one.get(sizes[rank]) != simdjson::SUCCESS || sizes[rank] < 0) return "must be an array of whole numbers from 0";
    ++rank;
  }
  const auto shape = Shape::make(std::span(sizes).first(rank));
  if (!shape.ok()) return std::string(shape.status().message());
  if (const auto count = shape->element_count(); !count.ok()) return std::string(count.status().message());
  body.shape = *shape;
  return std::nullopt;
}

constexpr std::array kInputParameters{
    Member<InputBody>{"binary_data_size", false,
                      [] {
                        Json schema = typed_schema("integer", "Number of bytes of its data after the JSON.");
                        schema["minimum"] = 0;
                        return schema;
                      },
                      [](const JsonValue& value, InputBody& body) {
                        return read_size(value, 0, std::numeric_limits<std::int64_t>::max(),
                                         body.binary_bytes.emplace());
                      }},
    Member<InputBody>{"shared_memory_region", false, [] { return typed_schema("null", "Not here."); },
                      refuse_shared_memory<InputBody>},
};

constexpr std::array kInput{
    Member<InputBody>{"name", true, name_schema, read_name<InputBody>},
    Member<InputBody>{"shape", true, shape_schema, read_shape},
    Member<InputBody>{"datatype", true, type_schema, read_type},
    Member<InputBody>{
        "parameters", false, [] { return schema_of(kInputParameters); },
        [](const JsonValue& value, InputBody& body) { return read_object(value, kInputParameters, body); }},
    Member<InputBody>{"data", false,
                      [] {
                        Json schema;
                        schema["description"] = "The elements, row-major, flat or nested like the shape.";
                        return schema;
                      },
                      [](const JsonValue& value, InputBody& body) -> Problem {
                        body.data = value;
                        return std::nullopt;
                      }},
};

constexpr std::array kOutputParameters{
    Member<WantedOutput>{
        "binary_data", false, [] { return typed_schema("boolean", "Sends its data after the JSON."); },
        [](const JsonValue& value, WantedOutput& body) { return read_bool(value, body.is_binary.emplace()); }},
    Member<WantedOutput>{"classification", false, [] { return typed_schema("integer", "Not here."); },
                         [](const JsonValue& value, WantedOutput& /*body*/) -> Problem {
                           std::uint64_t count = 0;
                           if (value.get(count) == simdjson::SUCCESS && count == 0) return std::nullopt;
                           return "is not supported: outputs are returned unchanged";
                         }},
    Member<WantedOutput>{"shared_memory_region", false, [] { return typed_schema("null", "Not here."); },
                         refuse_shared_memory<WantedOutput>},
};

constexpr std::array kOutput{
    Member<WantedOutput>{"name", true, name_schema, read_name<WantedOutput>},
    Member<WantedOutput>{
        "parameters", false, [] { return schema_of(kOutputParameters); },
        [](const JsonValue& value, WantedOutput& body) { return read_object(value, kOutputParameters, body); }},
};

constexpr std::array kParameters{
    Member<InferRequest>{"binary_data_output", false,
                         [] { return typed_schema("boolean", "Default of binary_data for all outputs."); },
                         [](const JsonValue& value, InferRequest& body) { return read_bool(value, body.is_binary); }},
    Member<InferRequest>{
        "truncate", false,
        [] { return typed_schema("boolean", "Cuts texts that are too long instead of refusing them."); },
        [](const JsonValue& value, InferRequest& body) { return read_bool(value, body.truncate.emplace()); }},
    Member<InferRequest>{"normalize", false, [] { return typed_schema("boolean", "Scales vectors to length 1."); },
                         [](const JsonValue& value, InferRequest& body) { return read_bool(value, body.normalize); }},
    Member<InferRequest>{"dimensions", false,
                         [] {
                           Json schema =
                               typed_schema("integer", "Keeps this many numbers of each vector, normalised again.");
                           schema["minimum"] = 1;
                           schema["maximum"] = kDimensionsMax;
                           return schema;
                         },
                         [](const JsonValue& value, InferRequest& body) {
                           return read_size(value, 1, kDimensionsMax, body.dimensions);
                         }},
    Member<InferRequest>{
        "prompt_name", false,
        [] { return typed_schema("string", "Name of the model's prompt to put before every text; empty: none."); },
        [](const JsonValue& value, InferRequest& body) {
          return read_short_text(value, kNameMax, body.prompt_name.emplace());
        }},
    kRole<InferRequest>,
};

template <class Item, std::size_t N>
Json list_schema(const std::array<Member<Item>, N>& members) {
  Json schema;
  schema["type"] = "array";
  schema["maxItems"] = kTensorsMax;
  schema["items"] = schema_of(members);
  return schema;
}

constexpr std::array kRequest{
    Member<RequestBody>{"id", false,
                        [] {
                          Json schema = typed_schema("string", "Returned with the answer.");
                          schema["maxLength"] = kIdMax;
                          return schema;
                        },
                        [](const JsonValue& value, RequestBody& body) {
                          return read_short_text(value, kIdMax, body.request.id.emplace());
                        }},
    Member<RequestBody>{
        "parameters", false, [] { return schema_of(kParameters); },
        [](const JsonValue& value, RequestBody& body) { return read_object(value, kParameters, body.request); }},
    Member<RequestBody>{
        "inputs", true, [] { return list_schema(kInput); },
        [](const JsonValue& value, RequestBody& body) { return read_objects(value, kInput, body.inputs); }},
    Member<RequestBody>{
        "outputs", false, [] { return list_schema(kOutput); },
        [](const JsonValue& value, RequestBody& body) { return read_objects(value, kOutput, body.request.outputs); }},
};

// Checks one element and stores it in memory.
template <class T>
Problem put_number(const JsonValue& value, std::byte* to) {
  T number{};
  if constexpr (std::is_floating_point_v<T>) {
    double given = 0;
    if (value.get(given) != simdjson::SUCCESS) return "holds something that is not a number";
    if (std::abs(given) > static_cast<double>(std::numeric_limits<T>::max())) {
      return "holds a number that is out of its type's range";
    }
    number = static_cast<T>(given);
  } else if constexpr (std::is_signed_v<T>) {
    std::int64_t given = 0;
    if (value.get(given) != simdjson::SUCCESS || !std::in_range<T>(given)) {
      return "holds something that is not a whole number of its type";
    }
    number = static_cast<T>(given);
  } else {
    std::uint64_t given = 0;
    if (value.get(given) != simdjson::SUCCESS || !std::in_range<T>(given)) {
      return "holds something that is not a whole number of its type";
    }
    number = static_cast<T>(given);
  }
  std::memcpy(to, &number, sizeof(number));
  return std::nullopt;
}

Problem put_bool(const JsonValue& value, std::byte* to) {
  bool truth = false;
  if (value.get(truth) != simdjson::SUCCESS) return "holds something other than true and false";
  *to = std::byte{truth};
  return std::nullopt;
}

using Put = Problem (*)(const JsonValue& value, std::byte* to);

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
Problem walk(const JsonValue& value, std::span<const std::int64_t> sizes, const Each& each) {
  if (sizes.empty()) return each(value);
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return "is not nested like its shape";
  std::int64_t count = 0;
  for (const JsonValue one : array) {
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
  const auto each = [&](const JsonValue& value) -> Problem {
    auto problem = read(value);
    if (problem) *problem += fmt::format(", at element {}", count);
    ++count;
    return problem;
  };
  simdjson::dom::array array;
  if (input.data->get(array) != simdjson::SUCCESS) {
    if (input.shape.rank() > 0) return "must be an array";
    return each(*input.data);
  }
  const bool is_nested = array.begin() != array.end() && (*array.begin()).is_array();
  if (is_nested) return walk(*input.data, input.shape.dims(), each);
  const std::array flat{static_cast<std::int64_t>(element_count)};
  return walk(*input.data, flat, each);
}

Problem read_json(const InputBody& input, std::size_t element_count, std::size_t& /*texts_room*/, NamedTensor& tensor) {
  const std::size_t size = core::size_of(tensor.type);
  const Put put = put_of(tensor.type);
  if (put == nullptr) return "must be binary: JSON cannot represent this type";
  return read_elements(input, element_count, [&](const JsonValue& value) {
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
  return read_elements(input, element_count, [&](const JsonValue& value) -> Problem {
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

// Takes the input's data from the front of `binary`.
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

Outcome<InferRequest> parse_infer(std::string_view header_length, std::string_view body, std::size_t texts_max) {
  constexpr std::string_view kHeader = "inference-header-content-length";
  std::size_t json_bytes = body.size();
  if (!header_length.empty()) {
    const char* const end = header_length.data() + header_length.size();
    const auto [stop, error] = std::from_chars(header_length.data(), end, json_bytes);
    if (error != std::errc() || stop != end) {
      return bad_body("Inference-Header-Content-Length must be the number of bytes of the JSON", kHeader);
    }
    if (json_bytes > body.size()) {
      return bad_body(fmt::format("Inference-Header-Content-Length is {}; the body has {}", json_bytes,
                                  core::counted(body.size(), "byte")),
                      kHeader);
    }
  }
  JsonBody json;
  if (auto refusal = json.parse(body.substr(0, json_bytes))) return *std::move(refusal);
  RequestBody read;
  if (auto refusal = read_members(json.root(), kRequest, read)) return *std::move(refusal);
  std::string_view binary = body.substr(json_bytes);
  std::size_t texts_room = texts_max;
  for (const InputBody& input : read.inputs) {
    Problem problem;
    if (input.type->element) {
      NamedTensor tensor;
      tensor.type = *input.type->element;
      problem = fill(input, binary, texts_room, tensor);
      read.request.inputs.emplace_back(std::move(tensor));
    } else {
      TextTensor tensor;
      problem = fill(input, binary, texts_room, tensor);
      read.request.inputs.emplace_back(std::move(tensor));
    }
    if (problem) return bad_body(fmt::format("the input {} {}", core::quoted(input.name, 100), *problem), "inputs");
  }
  if (!binary.empty()) {
    return bad_body(fmt::format("the body has {} after the data of its inputs", core::counted(binary.size(), "byte")),
                    "inputs");
  }
  return std::move(read.request);
}

Json infer_request_schema() {
  return schema_of(kRequest);
}

}  // namespace latebind::server::kserve
