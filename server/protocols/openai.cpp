// OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings, below /v1, below /v3 as in OpenVINO
// Model Server, and without a version for clients that were given such an address.
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/text/base64.h"
#include "core/text/format_to.h"
#include "server/protocols/json_body.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/text_members.h"
#include "server/protocols/usage.h"

namespace latebind::server {
namespace openai {
namespace {

using app::Json;

struct EmbeddingsBody {
  std::string model;
  TextsOrIds input;
  TextLimit limit;
  bool is_base64 = false;
  std::size_t dimensions = 0;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
};

Problem read_input(const Json& value, EmbeddingsBody& body) {
  if (auto problem = read_texts_or_ids(value, body.limit, body.input)) return problem;
  const std::size_t read = std::visit([](const auto& inputs) { return inputs.size(); }, body.input);
  if (body.limit.count_of(read) == 0) return "must not be an empty array";
  return std::nullopt;
}

Json input_schema() {
  Json text = typed_schema("string", "");
  Json ids;
  ids["type"] = "array";
  ids["minItems"] = 1;
  ids["items"] = typed_schema("integer", "");
  ids["items"]["minimum"] = 0;
  ids["items"]["maximum"] = std::numeric_limits<std::int32_t>::max();
  const auto list_of = [](const Json& item) {
    Json list;
    list["type"] = "array";
    list["minItems"] = 1;
    list["items"] = item;
    return list;
  };
  Json schema;
  schema["description"] = "One text or several, or their token ids, including special tokens.";
  schema["anyOf"] = Json::array({text, list_of(text), ids, list_of(ids)});
  return schema;
}

Json format_schema() {
  Json schema = typed_schema("string", "base64: little-endian 32-bit floats.");
  schema["enum"] = Json::array({"float", "base64"});
  return schema;
}

Json dimensions_schema() {
  Json schema = typed_schema("integer", "Keeps this many numbers of each vector, normalised again.");
  schema["minimum"] = 1;
  return schema;
}

constexpr std::array kEmbeddings{
    Member<EmbeddingsBody>{"model", true, [] { return typed_schema("string", "A served model."); },
                           [](const Json& value, EmbeddingsBody& body) { return read_text(value, body.model); }},
    Member<EmbeddingsBody>{"input", true, input_schema, read_input},
    Member<EmbeddingsBody>{"encoding_format", false, format_schema,
                           [](const Json& value, EmbeddingsBody& body) -> Problem {
                             std::string format;
                             static_cast<void>(read_text(value, format));
                             if (format != "float" && format != "base64") return "must be float or base64";
                             body.is_base64 = format == "base64";
                             return std::nullopt;
                           }},
    Member<EmbeddingsBody>{"dimensions", false, dimensions_schema,
                           [](const Json& value, EmbeddingsBody& body) {
                             return read_size(value, 1, std::size_t{1} << 20U, body.dimensions);
                           }},
    kRole<EmbeddingsBody>,
    kPromptName<EmbeddingsBody>,
    kTask<EmbeddingsBody>,
    Member<EmbeddingsBody>{"user", false, [] { return typed_schema("string", "Ignored."); },
                           [](const Json& value, EmbeddingsBody& /*body*/) {
                             std::string ignored;
                             return read_text(value, ignored);
                           }},
};

HttpResponse answer_of(const Refusal& refusal) {
  const auto words = [&]() -> std::pair<std::string_view, std::string_view> {  // type, code
    switch (refusal.kind) {
      case RefusalKind::kUnauthorized:
        return {"invalid_request_error", "invalid_api_key"};
      case RefusalKind::kNoModel:
        return {"invalid_request_error", "model_not_found"};
      case RefusalKind::kTooLong:
        return {"invalid_request_error", "context_length_exceeded"};
      case RefusalKind::kOverloaded:
        return {"rate_limit_error", "rate_limit_exceeded"};
      case RefusalKind::kTimeout:
        return {"server_error", "timeout"};
      case RefusalKind::kNotReady:
      case RefusalKind::kFallback:
      case RefusalKind::kDevice:
      case RefusalKind::kInternal:
        return {"server_error", ""};
      default:
        return {"invalid_request_error", ""};
    }
  }();
  HttpResponse response;
  // OpenAI answers every mistake of the caller with 400.
  response.status = refusal.kind == RefusalKind::kTooManyTexts ? 400 : status_of(refusal.kind);
  Json error;
  error["message"] = refusal.message;
  error["type"] = std::string(words.first);
  error["param"] = refusal.param.empty() ? Json() : Json(refusal.param);
  error["code"] = words.second.empty() ? Json() : Json(std::string(words.second));
  Json body;
  body["error"] = std::move(error);
  response.body = app::to_line(body);
  return response;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  Json error = typed_schema("object", "");
  error["properties"]["message"] = typed_schema("string", "");
  error["properties"]["type"] = typed_schema("string", "");
  error["properties"]["param"]["type"] = Json::array({"string", "null"});
  error["properties"]["code"]["type"] = Json::array({"string", "null"});
  error["required"] = Json::array({"message", "type", "param", "code"});
  schema["properties"]["error"] = std::move(error);
  schema["required"] = Json::array({"error"});
  return schema;
}

std::string embeddings_text(const Vectors& vectors, bool is_base64) {
  std::string text;
  text.reserve(vectors.count() * (is_base64 ? vectors.dimension() * 6 : vectors.dimension() * 14) + 256);
  text += R"({"object":"list","data":[)";
  for (std::size_t i = 0; i < vectors.count(); ++i) {
    fmt::format_to(std::back_inserter(text), R"({}{{"object":"embedding","index":{},"embedding":)", i > 0 ? "," : "",
                   i);
    if (is_base64) {
      text += '"';
      const auto row = std::as_bytes(vectors.row(i));
      core::append_base64(text, {reinterpret_cast<const char*>(row.data()), row.size()});
      text += '"';
    } else {
      append_numbers(text, vectors.row(i));
    }
    text += '}';
  }
  text += R"(],"model":)";
  core::append_json_string(text, vectors.model->name);
  return text + R"(,"usage":)" + usage_text(vectors) + '}';
}

void embeddings(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbeddingsBody body;
  body.limit.most = service.limits().texts_max;
  if (const auto refusal = read_body(exchange->request().body, kEmbeddings, body)) {
    return refuse(*exchange, openai_protocol(), *refusal);
  }
  VectorCall call;
  call.names.list = "input";
  call.model = std::move(body.model);
  call.texts = std::move(body.input);
  call.too_many = body.limit.too_many;
  call.dimensions = body.dimensions;
  call.role = body.role;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  service.embed(exchange, std::move(call), [exchange, is_base64 = body.is_base64](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, openai_protocol(), *refusal);
    answer_text(*exchange, embeddings_text(std::get<Vectors>(outcome), is_base64));
  });
}

Json model_json(const ServedModel& model) {
  Json json;
  json["id"] = model.name;
  json["object"] = "model";
  json["created"] = std::chrono::duration_cast<std::chrono::seconds>(model.loaded_at.time_since_epoch()).count();
  json["owned_by"] = "latebind";
  return json;
}

void list_models(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  Json body;
  body["object"] = "list";
  body["data"] = Json::array();
  for (const auto& model : service.models())
    body["data"].push_back(model_json(*model));
  answer_json(*exchange, body);
}

void show_model(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  const auto found = service.find(values.front());
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*exchange, openai_protocol(), *refusal);
  answer_json(*exchange, model_json(*std::get<const ServedModel*>(found)));
}

Json model_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["id"] = typed_schema("string", "");
  schema["properties"]["object"] = typed_schema("string", "");
  schema["properties"]["created"] = typed_schema("integer", "Seconds since 1970.");
  schema["properties"]["owned_by"] = typed_schema("string", "");
  schema["required"] = Json::array({"id", "object", "created", "owned_by"});
  return schema;
}

Json models_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["object"] = typed_schema("string", "");
  schema["properties"]["data"]["type"] = "array";
  schema["properties"]["data"]["items"] = model_schema();
  schema["required"] = Json::array({"object", "data"});
  return schema;
}

Json embeddings_schema() {
  Json item = typed_schema("object", "");
  item["properties"]["object"] = typed_schema("string", "");
  item["properties"]["index"] = typed_schema("integer", "The text's position in the request.");
  Json numbers;
  numbers["type"] = "array";
  numbers["items"] = typed_schema("number", "");
  item["properties"]["embedding"]["anyOf"] = Json::array({numbers, typed_schema("string", "base64")});
  item["required"] = Json::array({"object", "index", "embedding"});
  Json schema = typed_schema("object", "");
  schema["properties"]["object"] = typed_schema("string", "");
  schema["properties"]["data"]["type"] = "array";
  schema["properties"]["data"]["items"] = std::move(item);
  schema["properties"]["model"] = typed_schema("string", "");
  schema["properties"]["usage"] = usage_schema();
  schema["required"] = Json::array({"object", "data", "model", "usage"});
  return schema;
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>([] {
    std::vector<Route> made;
    static constexpr std::array<std::array<std::string_view, 3>, 3> kPaths{
        {{"/v1/embeddings", "/v1/models", "/v1/models/{model}"},
         {"/v3/embeddings", "/v3/models", "/v3/models/{model}"},
         {"/embeddings", "/models", "/models/{model}"}}};
    for (const auto& paths : kPaths) {
      made.push_back({.method = "POST",
                      .path = paths[0],
                      .handle = embeddings,
                      .summary = "Embeds texts.",
                      .body = [] { return schema_of(kEmbeddings); },
                      .answers = {{.status = 200, .description = "The vectors.", .schema = embeddings_schema}}});
      made.push_back({.method = "GET",
                      .path = paths[1],
                      .handle = list_models,
                      .summary = "Lists the served models.",
                      .answers = {{.status = 200, .description = "The models.", .schema = models_schema}}});
      made.push_back({.method = "GET",
                      .path = paths[2],
                      .handle = show_model,
                      .summary = "Describes a served model.",
                      .answers = {{.status = 200, .description = "The model.", .schema = model_schema}}});
    }
    return made;
  }());
  return all;
}

}  // namespace
}  // namespace openai

const Protocol& openai_protocol() {
  static constexpr Protocol kProtocol{.name = "openai",
                                      .about = "OpenAI's embeddings.",
                                      .routes = openai::routes,
                                      .refuse = openai::answer_of,
                                      .refusal_schema = openai::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
