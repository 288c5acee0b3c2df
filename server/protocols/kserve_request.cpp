#include "server/protocols/kserve_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <utility>

#include "core/text/counted.h"
#include "core/text/quote.h"
#include "server/protocols/instruct_member.h"
#include "server/protocols/json_body.h"
#include "server/protocols/kserve_data.h"
#include "server/protocols/kserve_types.h"
#include "server/protocols/role_member.h"

namespace latebind::server::kserve {

using app::Json;
using core::Shape;

namespace {

// More than any model has.
constexpr std::size_t kTensorsMax = 1024;
constexpr std::size_t kNameMax = 1024;
constexpr std::size_t kIdMax = 1024;
constexpr std::size_t kDimensionsMax = std::size_t{1} << 20;

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

Problem read_short_text(const Json& value, std::size_t bytes_max, std::string& text) {
  if (auto problem = read_text(value, text)) return problem;
  if (text.size() > bytes_max) return fmt::format("has {} bytes; at most {} are allowed", text.size(), bytes_max);
  return std::nullopt;
}

template <class Body>
Problem read_name(const Json& value, Body& body) {
  return read_short_text(value, kNameMax, body.name);
}

// Reads an array of objects.
template <class Item, std::size_t N>
Problem read_objects(const Json& value, const std::array<Member<Item>, N>& members, std::vector<Item>& items) {
  if (!value.is_array()) return "must be an array of objects";
  for (const Json& one : value) {
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
Problem refuse_shared_memory(const Json& /*value*/, Body& /*body*/) {
  return "is not supported: this server does not share memory with its clients";
}

Json type_schema() {
  Json schema = typed_schema("string", "FP16 and BF16 only as binary data.");
  for (const DataType& type : data_types())
    schema["enum"].push_back(std::string(type.name));
  return schema;
}

Problem read_type(const Json& value, InputBody& body) {
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

Problem read_shape(const Json& value, InputBody& body) {
  if (!value.is_array()) return "must be an array of sizes";
  std::array<std::int64_t, core::kRankMax> sizes{};
  std::size_t rank = 0;
  for (const Json& one : value) {
    if (rank == sizes.size()) return fmt::format("has more than {} sizes", sizes.size());
    const auto size = one.whole<std::int64_t>();
    if (!size || *size < 0) return "must be an array of whole numbers from 0";
    sizes[rank++] = *size;
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
                      [](const Json& value, InputBody& body) {
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
    Member<InputBody>{"parameters", false, [] { return schema_of(kInputParameters); },
                      [](const Json& value, InputBody& body) { return read_object(value, kInputParameters, body); }},
    Member<InputBody>{"data", false,
                      [] {
                        Json schema;
                        schema["description"] = "The elements, row-major, flat or nested like the shape.";
                        return schema;
                      },
                      [](const Json& value, InputBody& body) -> Problem {
                        body.data = &value;
                        return std::nullopt;
                      }},
};

constexpr std::array kOutputParameters{
    Member<WantedOutput>{
        "binary_data", false, [] { return typed_schema("boolean", "Sends its data after the JSON."); },
        [](const Json& value, WantedOutput& body) { return read_bool(value, body.is_binary.emplace()); }},
    Member<WantedOutput>{"classification", false, [] { return typed_schema("integer", "Not here."); },
                         [](const Json& value, WantedOutput& /*body*/) -> Problem {
                           if (value.whole<std::uint64_t>() == 0U) return std::nullopt;
                           return "is not supported: outputs are returned unchanged";
                         }},
    Member<WantedOutput>{"shared_memory_region", false, [] { return typed_schema("null", "Not here."); },
                         refuse_shared_memory<WantedOutput>},
};

constexpr std::array kOutput{
    Member<WantedOutput>{"name", true, name_schema, read_name<WantedOutput>},
    Member<WantedOutput>{
        "parameters", false, [] { return schema_of(kOutputParameters); },
        [](const Json& value, WantedOutput& body) { return read_object(value, kOutputParameters, body); }},
};

constexpr std::array kParameters{
    Member<InferRequest>{"binary_data_output", false,
                         [] { return typed_schema("boolean", "Default of binary_data for all outputs."); },
                         [](const Json& value, InferRequest& body) { return read_bool(value, body.is_binary); }},
    Member<InferRequest>{
        "truncate", false,
        [] { return typed_schema("boolean", "Cuts texts that are too long instead of refusing them."); },
        [](const Json& value, InferRequest& body) { return read_bool(value, body.truncate.emplace()); }},
    Member<InferRequest>{"normalize", false, [] { return typed_schema("boolean", "Scales vectors to length 1."); },
                         [](const Json& value, InferRequest& body) { return read_bool(value, body.normalize); }},
    Member<InferRequest>{
        "dimensions", false,
        [] {
          Json schema = typed_schema("integer", "Keeps this many numbers of each vector, normalised again.");
          schema["minimum"] = 1;
          schema["maximum"] = kDimensionsMax;
          return schema;
        },
        [](const Json& value, InferRequest& body) { return read_size(value, 1, kDimensionsMax, body.dimensions); }},
    Member<InferRequest>{
        "prompt_name", false,
        [] { return typed_schema("string", "Name of the model's prompt to put before every text; empty: none."); },
        [](const Json& value, InferRequest& body) {
          return read_short_text(value, kNameMax, body.prompt_name.emplace());
        }},
    Member<InferRequest>{
        "task", false, task_schema,
        [](const Json& value, InferRequest& body) { return read_short_text(value, kNameMax, body.task.emplace()); }},
    kRole<InferRequest>,
    kInstruct<InferRequest>,
    Member<InferRequest>{
        "raw_scores", false,
        [] { return typed_schema("boolean", "Returns the network's numbers instead of a cross-encoder's scores."); },
        [](const Json& value, InferRequest& body) { return read_bool(value, body.raw_scores); }},
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
    Member<RequestBody>{
        "id", false,
        [] {
          Json schema = typed_schema("string", "Returned with the answer.");
          schema["maxLength"] = kIdMax;
          return schema;
        },
        [](const Json& value, RequestBody& body) { return read_short_text(value, kIdMax, body.request.id.emplace()); }},
    Member<RequestBody>{
        "parameters", false, [] { return schema_of(kParameters); },
        [](const Json& value, RequestBody& body) { return read_object(value, kParameters, body.request); }},
    Member<RequestBody>{"inputs", true, [] { return list_schema(kInput); },
                        [](const Json& value, RequestBody& body) { return read_objects(value, kInput, body.inputs); }},
    Member<RequestBody>{
        "outputs", false, [] { return list_schema(kOutput); },
        [](const Json& value, RequestBody& body) { return read_objects(value, kOutput, body.request.outputs); }},
};

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
  Json json;
  if (auto refusal = parse_body(body.substr(0, json_bytes), json)) return *std::move(refusal);
  RequestBody read;
  if (auto refusal = read_members(json, kRequest, read)) return *std::move(refusal);
  std::string_view binary = body.substr(json_bytes);
  std::size_t texts_room = texts_max;
  for (const InputBody& input : read.inputs) {
    Problem problem;
    if (input.type->element) {
      NamedTensor tensor;
      tensor.type = *input.type->element;
      problem = read_data(input, binary, texts_room, tensor);
      read.request.inputs.emplace_back(std::move(tensor));
    } else {
      TextTensor tensor;
      problem = read_data(input, binary, texts_room, tensor);
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
