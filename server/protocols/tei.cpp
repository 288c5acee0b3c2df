// text-embeddings-inference 1.9: its paths, members, headers and errors (router/src/http of the original). Unlike the
// original, an empty text has a vector, and a list contains either texts or arrays of token ids.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "embedding/outputs/score.h"
#include "server/protocols/tei_parts.h"

namespace latebind::server {
namespace tei {
namespace {

using app::Json;

HttpResponse error_of(unsigned status, std::string_view error, std::string_view type) {
  HttpResponse response;
  response.status = status;
  Json body;
  body["error"] = std::string(error);
  body["error_type"] = std::string(type);
  response.body = app::to_line(body);
  return response;
}

HttpResponse answer_of(const Refusal& refusal) {
  switch (refusal.kind) {
    case RefusalKind::kBadRequest:
    case RefusalKind::kTooManyTexts:
      return error_of(422, refusal.message, "Validation");
    case RefusalKind::kOverloaded:
      return error_of(429, refusal.message, "Overloaded");
    case RefusalKind::kDevice:
      return error_of(424, refusal.message, "Backend");
    case RefusalKind::kInternal:
    case RefusalKind::kTimeout:
      return error_of(status_of(refusal.kind), refusal.message, "Backend");
    case RefusalKind::kNotReady:
    case RefusalKind::kFallback:
      return error_of(503, refusal.message, "Unhealthy");
    default:
      return error_of(status_of(refusal.kind), refusal.message, "Validation");
  }
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["error"] = typed_schema("string", "For people.");
  schema["properties"]["error_type"]["type"] = "string";
  schema["properties"]["error_type"]["enum"] =
      Json::array({"Unhealthy", "Backend", "Overloaded", "Validation", "Tokenizer", "Empty"});
  schema["required"] = Json::array({"error", "error_type"});
  return schema;
}

void refuse_unsupported(Exchange& exchange, std::string message) {
  refuse(exchange, tei_protocol(), {.kind = RefusalKind::kUnsupported, .message = std::move(message), .param = {}});
}

std::string_view word_of(graph::PoolingMode pooling) {
  switch (pooling) {
    case graph::PoolingMode::kCls:
      return "cls";
    case graph::PoolingMode::kMean:
      return "mean";
    case graph::PoolingMode::kMax:
      return "max";
    case graph::PoolingMode::kMeanSqrt:
      return "mean_sqrt_len_tokens";
    case graph::PoolingMode::kWeightedMean:
      return "weightedmean";
    case graph::PoolingMode::kLastToken:
      break;
  }
  return "last_token";
}

std::string_view dtype_of(core::Precision precision) {
  switch (precision) {
    case core::Precision::kF32:
      return "float32";
    case core::Precision::kF16:
      return "float16";
    case core::Precision::kBF16:
      return "bfloat16";
    default:
      return core::word_of(precision);
  }
}

Json model_type_of(const ServedModel& model) {
  Json type;
  const auto* const scores = model.own<embedding::ScoreOutput>();
  if (scores == nullptr) {
    const embedding::Output& own = model.texts()->output();
    const auto form = own.kind().form;
    type["embedding"]["pooling"] = form == embedding::ResultForm::kRow         ? word_of(own.pooling())
                                   : form == embedding::ResultForm::kSparseRow ? "splade"
                                                                               : "none";
    return type;
  }
  const auto& labels = scores->labels();
  Json& kind = type[labels.size() == 1 ? "reranker" : "classifier"];
  for (std::size_t i = 0; i < labels.size(); ++i) {
    kind["id2label"][std::to_string(i)] = labels[i];
    kind["label2id"][labels[i]] = i;
  }
  return type;
}

void info(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  const auto found = service.find("");
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*exchange, tei_protocol(), *refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  const embedding::Embedder* const network = model.texts();
  if (network == nullptr) return refuse_unsupported(*exchange, model.name + " does not take texts");
  const auto active = model.attestation()->active;
  Json body;
  body["model_id"] = model.name;
  body["model_sha"] = model.commit.empty() ? Json() : Json(model.commit);
  body["model_dtype"] = std::string(dtype_of(active.precision));
  body["served_model_name"] = model.name;
  body["model_type"] = model_type_of(model);
  body["max_concurrent_requests"] = service.facts().connections_max;
  body["max_input_length"] = network->max_tokens();
  body["max_batch_tokens"] = network->batch_tokens();
  body["max_batch_requests"] = Json();
  body["max_client_batch_size"] = service.limits().texts_max;
  body["auto_truncate"] = service.limits().auto_truncate;
  body["tokenization_workers"] = active.requests;
  body["version"] = LATEBIND_VERSION;
  body["sha"] = Json();
  body["docker_label"] = Json();
  answer_json(*exchange, body);
}

// The liveness check: any answer means alive.
void ping(const ExchangePtr& exchange, const PathValues& /*values*/, Service& /*service*/) {
  HttpResponse response;
  response.content_type.clear();
  exchange->answer(std::move(response));
}

void health(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  if (service.is_ready()) return ping(exchange, values, service);
  refuse(*exchange, tei_protocol(),
         {.kind = RefusalKind::kNotReady,
          .message = service.has_models() ? "the server is shutting down" : "the models are still loading",
          .param = {},
          .retry_after_s = 1});
}

Json info_schema() {
  Json schema = typed_schema("object", "");
  for (const char* name : {"model_id", "model_dtype", "served_model_name", "version"})
    schema["properties"][name] = typed_schema("string", "");
  for (const char* name : {"max_concurrent_requests", "max_input_length", "max_batch_tokens", "max_client_batch_size",
                           "tokenization_workers"})
    schema["properties"][name] = typed_schema("integer", "");
  for (const char* name : {"max_batch_requests", "sha", "docker_label"})
    schema["properties"][name] = typed_schema("null", "");
  schema["properties"]["model_sha"] = or_null(typed_schema("string", "The commit, if it is known."));
  schema["properties"]["auto_truncate"] = typed_schema("boolean", "");
  schema["properties"]["model_type"] = typed_schema("object", "");
  for (const char* kind : {"embedding", "reranker", "classifier"})
    schema["properties"]["model_type"]["properties"][kind] = typed_schema("object", "");
  schema["properties"]["model_type"]["properties"]["embedding"]["properties"]["pooling"] = typed_schema("string", "");
  schema["required"] = Json::array({"model_id", "model_dtype", "served_model_name", "model_type", "max_input_length",
                                    "max_client_batch_size", "auto_truncate", "version"});
  return schema;
}

// A route whose answer is JSON.
Route post(std::string_view path, decltype(Route::handle) handle, std::string_view summary, app::Json (*body)(),
           const AnswerDoc& answer) {
  return {.method = "POST", .path = path, .handle = handle, .summary = summary, .body = body, .answers = {answer}};
}

// A check whose answer has no body.
Route probe(std::string_view path, decltype(Route::handle) handle, std::string_view summary,
            std::vector<AnswerDoc> answers) {
  return {.method = "GET",
          .path = path,
          .handle = handle,
          .summary = summary,
          .answers = std::move(answers),
          .is_open = true,
          .is_probe = true};
}

std::span<const Route> routes() {
  static const AnswerDoc kVectors{.description = "The vectors.", .schema = embed_answer};
  static constexpr std::string_view kEither = "Embeds texts; compares sentences if the body is that of /similarity.";
  static const auto& all = *new std::vector<Route>{
      post("/embed", embed, "Embeds texts.", embed_body, kVectors),
      post("/", answer_root, kEither, embed_body, kVectors),
      post("/invocations", answer_root, kEither, embed_body, kVectors),
      post("/embed_all", embed_all, "Returns the vector of each token, if the server was started with --token-vectors.",
           embed_all_body, {.description = "The vectors.", .schema = embed_all_answer}),
      post("/similarity", similarity, "Compares sentences with one sentence.", similarity_body,
           {.description = "The cosines.", .schema = similarity_answer}),
      post("/tokenize", tokenize, "Tokenizes texts.", tokenize_body,
           {.description = "The tokens.", .schema = tokenize_answer}),
      post("/decode", decode, "Decodes token ids.", decode_body,
           {.description = "The texts.", .schema = decode_answer}),
      post("/embed_sparse", embed_sparse, "Embeds texts with a sparse encoder.", embed_sparse_body,
           {.description = "The vectors.", .schema = embed_sparse_answer}),
      post("/predict", predict, "Classifies texts, or pairs of texts, with a cross-encoder.", predict_body,
           {.description = "The labels.", .schema = predict_answer}),
      post("/rerank", rerank, "Ranks texts for a query with a cross-encoder; with 'documents', the same as /v1/rerank.",
           rerank_body, {.description = "The scores.", .schema = rerank_answer}),
      {.method = "GET",
       .path = "/info",
       .handle = info,
       .summary = "Describes the first model and the limits of requests.",
       .answers = {{.description = "The facts.", .schema = info_schema}}},
      probe("/health", health, "Whether the server answers requests.",
            {{.description = "It does.", .content_type = ""},
             {.status = 503, .description = "The server is starting or shutting down.", .schema = refusal_schema}}),
      probe("/ping", ping, "Whether the server is live.", {{.description = "It is.", .content_type = ""}})};
  return all;
}

}  // namespace

void refuse_empty(Exchange& exchange, std::string_view member) {
  exchange.answer(error_of(400, fmt::format("'{}' must not be empty", member), "Empty"),
                  server::word_of(RefusalKind::kBadRequest));
}

void refuse_no_json(Exchange& exchange, const Refusal& refusal) {
  exchange.answer(error_of(400, refusal.message, "Validation"), server::word_of(refusal.kind));
}

Json list_schema(Json item, std::string_view about) {
  Json schema = typed_schema("array", about);
  schema["items"] = std::move(item);
  return schema;
}

Json some_schema(Json item) {
  Json schema = list_schema(std::move(item), {});
  schema["minItems"] = 1;
  return schema;
}

Json id_schema() {
  Json id = typed_schema("integer", "");
  id["minimum"] = 0;
  id["maximum"] = std::numeric_limits<std::int32_t>::max();
  return id;
}

}  // namespace tei

const Protocol& tei_protocol() {
  static constexpr Protocol kProtocol{.name = "tei",
                                      .about = "text-embeddings-inference.",
                                      .routes = tei::routes,
                                      .refuse = tei::answer_of,
                                      .refusal_schema = tei::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
