#include "server/protocols/kserve_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "core/text/format_to.h"
#include "core/text/quote.h"
#include "server/protocols/json_body.h"
#include "server/protocols/kserve_types.h"

namespace latebind::server::kserve {

using app::Json;
using core::ElementType;

namespace {

// Returns false if a number cannot be expressed in JSON.
template <class T>
bool append_elements(std::string& text, std::span<const std::byte> data) {
  std::array<char, 40> digits{};
  for (std::size_t at = 0; at + sizeof(T) <= data.size(); at += sizeof(T)) {
    T number{};
    std::memcpy(&number, data.data() + at, sizeof(T));
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(number)) return false;
    }
    if (at > 0) text += ',';
    // Small integers are written as numbers, not as characters.
    if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
      text.append(digits.data(), fmt::format_to(digits.data(), "{}", static_cast<int>(number)));
    } else {
      text.append(digits.data(), fmt::format_to(digits.data(), "{}", number));
    }
  }
  return true;
}

void append_truths(std::string& text, std::span<const std::byte> data) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i > 0) text += ',';
    text += data[i] == std::byte{0} ? "false" : "true";
  }
}

bool append_data(std::string& text, ElementType type, std::span<const std::byte> data) {
  switch (type) {
    case ElementType::kBool:
      return append_truths(text, data), true;
    case ElementType::kI8:
      return append_elements<std::int8_t>(text, data);
    case ElementType::kU8:
      return append_elements<std::uint8_t>(text, data);
    case ElementType::kI16:
      return append_elements<std::int16_t>(text, data);
    case ElementType::kU16:
      return append_elements<std::uint16_t>(text, data);
    case ElementType::kI32:
      return append_elements<std::int32_t>(text, data);
    case ElementType::kU32:
      return append_elements<std::uint32_t>(text, data);
    case ElementType::kI64:
      return append_elements<std::int64_t>(text, data);
    case ElementType::kU64:
      return append_elements<std::uint64_t>(text, data);
    case ElementType::kF32:
      return append_elements<float>(text, data);
    case ElementType::kF64:
      return append_elements<double>(text, data);
    default:
      return false;
  }
}

}  // namespace

Outcome<std::vector<std::size_t>> choose_outputs(const InferRequest& request, std::span<const std::string> names) {
  std::vector<std::size_t> chosen;
  for (const WantedOutput& wanted : request.outputs) {
    const auto found = std::ranges::find(names, wanted.name);
    if (found == names.end()) {
      return Refusal{.kind = RefusalKind::kBadRequest,
                     .message = fmt::format("the model has no output {}; available: {}", core::quoted(wanted.name, 100),
                                            fmt::join(names, ", ")),
                     .param = "outputs"};
    }
    chosen.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (chosen.empty()) {
    for (std::size_t i = 0; i < names.size(); ++i)
      chosen.push_back(i);
  }
  return chosen;
}

Outcome<HttpResponse> infer_answer(std::string_view model, const std::optional<std::string>& id,
                                   std::span<const AnswerTensor> outputs, std::uint64_t truncated_texts) {
  HttpResponse response;
  std::string& text = response.body;
  std::size_t binary_bytes = 0;
  text += R"({"model_name":)";
  core::append_json_string(text, model);
  text += R"(,"model_version":"1")";
  if (id) {
    text += R"(,"id":)";
    core::append_json_string(text, *id);
  }
  if (truncated_texts > 0) {
    fmt::format_to(std::back_inserter(text), R"(,"parameters":{{"truncated_texts":{}}})", truncated_texts);
  }
  text += R"(,"outputs":[)";
  for (const AnswerTensor& output : outputs) {
    if (&output != outputs.data()) text += ',';
    text += R"({"name":)";
    core::append_json_string(text, output.name);
    fmt::format_to(std::back_inserter(text), R"(,"shape":[{}],"datatype":"{}",)", fmt::join(output.shape, ","),
                   type_of(output.type).name);
    if (output.is_binary) {
      fmt::format_to(std::back_inserter(text), R"("parameters":{{"binary_data_size":{}}}}})", output.data.size());
      binary_bytes += output.data.size();
      continue;
    }
    text += R"("data":[)";
    if (!append_data(text, output.type, output.data)) {
      return Refusal{.kind = RefusalKind::kUnsupported,
                     .message = fmt::format("the output {} of type {} {}; ask for it with binary_data",
                                            core::quoted(output.name, 100), type_of(output.type).name,
                                            type_of(output.type).has_json
                                                ? "holds infinite numbers or NaN, which JSON cannot represent"
                                                : "cannot be represented in JSON"),
                     .param = "outputs"};
    }
    text += "]}";
  }
  text += "]}";
  if (std::ranges::none_of(outputs, &AnswerTensor::is_binary)) return response;
  response.content_type = "application/octet-stream";
  response.set("Inference-Header-Content-Length", std::to_string(text.size()));
  text.reserve(text.size() + binary_bytes);
  for (const AnswerTensor& output : outputs) {
    if (output.is_binary) {
      text.append(static_cast<const char*>(static_cast<const void*>(output.data.data())), output.data.size());
    }
  }
  return response;
}

Json infer_answer_schema() {
  Json output = typed_schema("object", "");
  output["properties"]["name"] = typed_schema("string", "");
  output["properties"]["shape"] = typed_schema("array", "");
  output["properties"]["shape"]["items"] = typed_schema("integer", "");
  output["properties"]["datatype"] = typed_schema("string", "");
  output["properties"]["parameters"] = typed_schema("object", "");
  output["properties"]["parameters"]["properties"]["binary_data_size"] =
      typed_schema("integer", "Number of bytes of its data after the JSON.");
  output["properties"]["data"] = typed_schema("array", "The elements, row-major; missing if they are binary.");
  output["required"] = Json::array({"name", "shape", "datatype"});
  Json schema = typed_schema("object", "");
  schema["properties"]["model_name"] = typed_schema("string", "");
  schema["properties"]["model_version"] = typed_schema("string", "");
  schema["properties"]["id"] = typed_schema("string", "The value of the request.");
  schema["properties"]["parameters"] = typed_schema("object", "Present if texts were cut.");
  schema["properties"]["parameters"]["properties"]["truncated_texts"] =
      typed_schema("integer", "Number of texts that were cut to the model's limit.");
  schema["properties"]["outputs"] = typed_schema("array", "");
  schema["properties"]["outputs"]["items"] = std::move(output);
  schema["required"] = Json::array({"model_name", "model_version", "outputs"});
  return schema;
}

}  // namespace latebind::server::kserve
