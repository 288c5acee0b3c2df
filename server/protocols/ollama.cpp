// Ollama's embeddings (https://github.com/ollama/ollama/blob/main/docs/api.md) and the requests about models that its
// clients send (ollama_models.cpp).
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text/format_to.h"
#include "server/protocols/json_body.h"
#include "server/protocols/ollama_parts.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/text_members.h"

namespace latebind::server {
namespace ollama {
namespace {

using app::Json;
using std::chrono::steady_clock;

constexpr std::size_t kDimensionsMax = std::size_t{1} << 20;

struct EmbedBody {
  std::string model;
  std::vector<std::string> input;
  TextLimit limit;
  bool truncate = true;
  std::size_t dimensions = 0;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
};

struct EmbeddingsBody {
  std::string model;
  std::string prompt;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
};

// "" only asks for the model, as in the original.
Problem read_input(const Json& value, EmbedBody& body) {
  auto problem = read_text_or_texts(value, body.limit, body.input);
  if (value.is_string() && body.input.front().empty()) body.input.clear();
  return problem;
}

Json input_schema() {
  Json texts = typed_schema("array", "");
  texts["items"] = typed_schema("string", "");
  Json schema;
  schema["description"] = "One text or several; no text, or a single empty one, gives no vector.";
  schema["anyOf"] = Json::array({typed_schema("string", ""), texts});
  return schema;
}

Json ignored_schema() {
  Json schema;
  schema["description"] = "Ignored: the server keeps the models loaded that it was started with.";
  return schema;
}

template <class Body>
Problem ignore(const Json& /*value*/, Body& /*body*/) {
  return std::nullopt;
}

template <class Body>
constexpr Member<Body> kModel{"model", true, [] { return typed_schema("string", "A served model."); },
                              [](const Json& value, Body& body) { return read_text(value, body.model); }};

constexpr std::array kEmbed{
    kModel<EmbedBody>,
    Member<EmbedBody>{"input", false, input_schema, read_input},
    Member<EmbedBody>{"truncate", false,
                      [] {
                        Json schema = typed_schema("boolean", "Cuts longer texts instead of refusing them.");
                        schema["default"] = true;
                        return schema;
                      },
                      [](const Json& value, EmbedBody& body) { return read_bool(value, body.truncate); }},
    Member<EmbedBody>{
        "dimensions", false,
        [] {
          Json schema = typed_schema("integer", "Keeps this many numbers of each vector, normalised again; 0: all.");
          schema["minimum"] = 0;
          return schema;
        },
        [](const Json& value, EmbedBody& body) { return read_size(value, 0, kDimensionsMax, body.dimensions); }},
    kRole<EmbedBody>,
    kPromptName<EmbedBody>,
    kTask<EmbedBody>,
    Member<EmbedBody>{"options", false, ignored_schema, ignore<EmbedBody>},
    Member<EmbedBody>{"keep_alive", false, ignored_schema, ignore<EmbedBody>},
};

constexpr std::array kEmbeddings{
    kModel<EmbeddingsBody>,
    Member<EmbeddingsBody>{"prompt", false,
                           [] { return typed_schema("string", "The text; an empty one gives no vector."); },
                           [](const Json& value, EmbeddingsBody& body) { return read_text(value, body.prompt); }},
    kRole<EmbeddingsBody>,
    kPromptName<EmbeddingsBody>,
    kTask<EmbeddingsBody>,
    Member<EmbeddingsBody>{"options", false, ignored_schema, ignore<EmbeddingsBody>},
    Member<EmbeddingsBody>{"keep_alive", false, ignored_schema, ignore<EmbeddingsBody>},
};

HttpResponse answer_of(const Refusal& refusal) {
  HttpResponse response;
  // The original answers every mistake of the caller with 400.
  const bool is_mistake = refusal.kind == RefusalKind::kTooManyTexts || refusal.kind == RefusalKind::kTooLong;
  response.status = is_mistake ? 400 : status_of(refusal.kind);
  Json body;
  body["error"] = refusal.message;
  response.body = app::to_line(body);
  return response;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["error"] = typed_schema("string", "For people.");
  schema["required"] = Json::array({"error"});
  return schema;
}

std::string embed_text(std::string_view model, const Vectors& vectors, steady_clock::duration total) {
  std::string text;
  text.reserve(vectors.count() * vectors.dimension() * 14 + 256);
  text += R"({"model":)";
  core::append_json_string(text, model);
  text += R"(,"embeddings":[)";
  for (std::size_t i = 0; i < vectors.count(); ++i) {
    if (i > 0) text += ',';
    append_numbers(text, vectors.row(i));
  }
  fmt::format_to(std::back_inserter(text), R"(],"total_duration":{},"load_duration":0,"prompt_eval_count":{}}})",
                 std::chrono::nanoseconds(total).count(), vectors.tokens);
  return text;
}

void embed(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbedBody body;
  body.limit.most = service.limits().texts_max;
  if (!take_body(exchange, kEmbed, body)) return;
  const ServedModel* const model = find_model(exchange, service, body.model);
  if (model == nullptr) return;
  if (body.limit.count_of(body.input.size()) == 0) return answer_text(*exchange, embed_text(body.model, {}, {}));
  VectorCall call;
  call.model = model->name;
  call.names.list = "input";
  call.texts = std::move(body.input);
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.dimensions = body.dimensions;
  call.role = body.role;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  service.embed(exchange, std::move(call), [exchange, name = std::move(body.model)](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, ollama_protocol(), *refusal);
    const auto total = steady_clock::now() - exchange->record().arrived;
    answer_text(*exchange, embed_text(name, std::get<Vectors>(outcome), total));
  });
}

// The older path takes one text and returns the vector as the model computes it.
void embeddings(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbeddingsBody body;
  if (!take_body(exchange, kEmbeddings, body)) return;
  const ServedModel* const model = find_model(exchange, service, body.model);
  if (model == nullptr) return;
  if (body.prompt.empty()) return answer_text(*exchange, R"({"embedding":[]})");
  VectorCall call;
  call.model = model->name;
  call.names = {.before = "prompt", .count_before = 1};
  call.texts = std::vector{std::move(body.prompt)};
  call.normalize = false;
  call.role = body.role;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  service.embed(exchange, std::move(call), [exchange](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, ollama_protocol(), *refusal);
    std::string text = R"({"embedding":)";
    append_numbers(text, std::get<Vectors>(outcome).row(0));
    answer_text(*exchange, text + "}");
  });
}

Json vector_schema() {
  Json schema = typed_schema("array", "");
  schema["items"] = typed_schema("number", "");
  return schema;
}

Json embed_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["model"] = typed_schema("string", "The name of the request.");
  schema["properties"]["embeddings"] = typed_schema("array", "A vector for each text, of length 1.");
  schema["properties"]["embeddings"]["items"] = vector_schema();
  schema["properties"]["total_duration"] = typed_schema("integer", "Nanoseconds.");
  schema["properties"]["load_duration"] =
      typed_schema("integer", "Nanoseconds; always 0, because models are already loaded.");
  schema["properties"]["prompt_eval_count"] = typed_schema("integer", "Tokens.");
  schema["required"] = Json::array({"model", "embeddings"});
  return schema;
}

Json embeddings_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["embedding"] = vector_schema();
  schema["required"] = Json::array({"embedding"});
  return schema;
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>{
      {.method = "POST",
       .path = "/api/embed",
       .handle = embed,
       .summary = "Embeds texts.",
       .body = [] { return schema_of(kEmbed); },
       .answers = {{.status = 200, .description = "The vectors.", .schema = embed_schema}}},
      {.method = "POST",
       .path = "/api/embeddings",
       .handle = embeddings,
       .summary = "Embeds one text.",
       .body = [] { return schema_of(kEmbeddings); },
       .answers = {{.status = 200, .description = "The vector.", .schema = embeddings_schema}}},
      {.method = "GET",
       .path = "/api/tags",
       .handle = tags,
       .summary = "Lists the served models.",
       .answers = {{.status = 200, .description = "The models.", .schema = tags_schema}}},
      {.method = "GET",
       .path = "/api/ps",
       .handle = running,
       .summary = "Lists the served models and the memory that they use.",
       .answers = {{.status = 200, .description = "The models.", .schema = running_schema}}},
      {.method = "POST",
       .path = "/api/pull",
       .handle = pull,
       .summary = "Succeeds for a served model; other models are not downloaded.",
       .body = pull_body,
       .answers = {{.status = 200, .description = "The model is available.", .schema = pull_schema},
                   {.status = 200,
                    .description = "The same, as a stream of lines.",
                    .content_type = "application/x-ndjson",
                    .schema = pull_schema}}},
      {.method = "POST",
       .path = "/api/show",
       .handle = show,
       .summary = "Describes a served model.",
       .body = show_body,
       .answers = {{.status = 200, .description = "The model.", .schema = show_schema}}},
      {.method = "GET",
       .path = "/api/version",
       .handle = version,
       .summary = "The server's version.",
       .answers = {{.status = 200, .description = "The version.", .schema = version_schema}}}};
  return all;
}

}  // namespace
}  // namespace ollama

const Protocol& ollama_protocol() {
  static constexpr Protocol kProtocol{.name = "ollama",
                                      .about = "Ollama's embeddings.",
                                      .routes = ollama::routes,
                                      .refuse = ollama::answer_of,
                                      .refusal_schema = ollama::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
