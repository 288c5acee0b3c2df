// The rerank request of Jina and Cohere, which clients of other servers use, too. One body and one answer serve both.
// Sources: the API references (Jina /v1/rerank, Cohere /v1/rerank and /v2/rerank; OpenVINO Model Server offers Cohere's
// at /v3/rerank).
#include "server/protocols/rerank.h"

#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "core/text/format_to.h"
#include "embedding/cross_encoder.h"
#include "server/protocols/instruct_member.h"
#include "server/protocols/json_body.h"
#include "server/protocols/mix_member.h"
#include "server/protocols/relevance.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/usage.h"

namespace latebind::server {
namespace reranking {
namespace {

using app::Json;

constexpr std::size_t kModelNameMax = 1024;

struct RankingBody {
  std::string model;
  std::string query;
  std::vector<std::string> documents;
  TextLimit limit;
  std::size_t top_n = std::numeric_limits<std::size_t>::max();
  std::size_t document_tokens_max = std::numeric_limits<std::size_t>::max();
  std::optional<bool> truncate;
  std::optional<embedding::MixedWeights> mix;
  std::optional<std::string> instruct;
  bool return_documents = false;
};

// A document is a text or an object that contains one.
Problem read_document(const Json& value, std::string& text) {
  const Json* const inner = value.find("text");
  return read_text(inner == nullptr ? value : *inner, text);
}

Json documents_schema() {
  Json text = typed_schema("string", "");
  Json object = typed_schema("object", "");
  object["properties"]["text"] = text;
  object["required"] = Json::array({"text"});
  Json schema = typed_schema("array", "Texts, or objects with a member 'text'.");
  schema["items"]["anyOf"] = Json::array({std::move(text), std::move(object)});
  schema["minItems"] = 1;
  return schema;
}

Json top_schema() {
  Json schema = typed_schema("integer", "Number of best documents to return (default: all).");
  schema["minimum"] = 1;
  return schema;
}

constexpr std::array kRanking{
    Member<RankingBody>{
        "model", false,
        [] { return typed_schema("string", "A served model (default: the first one that gives scores)."); },
        [](const Json& value, RankingBody& body) -> Problem {
          if (auto problem = read_text(value, body.model)) return problem;
          if (body.model.size() > kModelNameMax) return "is too long";
          return std::nullopt;
        }},
    Member<RankingBody>{"query", true, [] { return typed_schema("string", "The query."); },
                        [](const Json& value, RankingBody& body) { return read_text(value, body.query); }},
    Member<RankingBody>{"documents", true, documents_schema,
                        [](const Json& value, RankingBody& body) -> Problem {
                          if (!value.is_array()) {
                            return fmt::format("must be an array, not {}", kind_of(value));
                          }
                          if (!body.limit.has_room_for(value.size())) return std::nullopt;
                          body.documents.reserve(value.size());
                          for (const Json& item : value) {
                            if (read_document(item, body.documents.emplace_back())) {
                              return unexpected_item(item, fmt::format("[{}]", body.documents.size() - 1),
                                                     "a string, or an object with a string 'text',");
                            }
                          }
                          return std::nullopt;
                        }},
    Member<RankingBody>{"top_n", false, top_schema,
                        [](const Json& value, RankingBody& body) {
                          return read_size(value, 1, std::numeric_limits<std::uint32_t>::max(), body.top_n);
                        }},
    Member<RankingBody>{"return_documents", false,
                        [] { return typed_schema("boolean", "Returns each document with its score."); },
                        [](const Json& value, RankingBody& body) { return read_bool(value, body.return_documents); }},
    Member<RankingBody>{"max_tokens_per_doc", false,
                        [] {
                          Json schema = typed_schema("integer", "Accepted only if it is not below the model's limit.");
                          schema["minimum"] = 1;
                          return schema;
                        },
                        [](const Json& value, RankingBody& body) {
                          return read_size(value, 1, std::numeric_limits<std::uint32_t>::max(),
                                           body.document_tokens_max);
                        }},
    Member<RankingBody>{
        "truncate", false,
        [] { return typed_schema("boolean", "Cuts texts that are too long together instead of refusing them."); },
        [](const Json& value, RankingBody& body) { return read_bool(value, body.truncate.emplace()); }},
    kMix<RankingBody>,
    kInstruct<RankingBody>,
    kNoRole<RankingBody>,
};

HttpResponse answer_of(const Refusal& refusal) {
  HttpResponse response;
  response.status = refusal.kind == RefusalKind::kTooManyTexts ? 400 : status_of(refusal.kind);
  Json body;
  body["message"] = refusal.message;  // for Cohere
  body["detail"] = refusal.message;   // for Jina
  response.body = app::to_line(body);
  return response;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["message"] = typed_schema("string", "For people.");
  schema["properties"]["detail"] = typed_schema("string", "The same.");
  schema["required"] = Json::array({"message", "detail"});
  return schema;
}

std::string ranking_text(const Vectors& numbers, std::size_t top_n, std::span<const std::string> documents) {
  const std::vector<float> scores = relevance_of(numbers);
  std::string text = R"({"object":"list","model":)";
  core::append_json_string(text, numbers.model->name);
  text += R"(,"results":[)";
  bool is_first = true;
  for (const std::size_t index : embedding::rank_by_score(scores, top_n)) {
    fmt::format_to(std::back_inserter(text), R"({}{{"index":{},"relevance_score":{})", is_first ? "" : ",", index,
                   scores[index]);
    is_first = false;
    if (!documents.empty()) {
      text += R"(,"document":{"text":)";
      core::append_json_string(text, documents[index]);
      text += '}';
    }
    text += '}';
  }
  return text + R"(],"usage":)" + usage_text(numbers) + '}';
}

void rerank(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  RankingBody body;
  body.limit.most = service.limits().texts_max;
  if (const auto refusal = read_body(exchange->request().body, kRanking, body))
    return refuse(*exchange, rerank_protocol(), *refusal);
  if (body.limit.count_of(body.documents.size()) == 0) {
    return refuse(*exchange, rerank_protocol(),
                  {.kind = RefusalKind::kBadRequest, .message = "'documents' must not be empty", .param = "documents"});
  }
  ScoreCall call;
  call.model = std::move(body.model);
  call.query = std::move(body.query);
  call.too_many = body.limit.too_many;
  call.document_tokens_max = body.document_tokens_max;
  call.truncate = body.truncate;
  call.mix = body.mix;
  call.instruct = std::move(body.instruct);
  std::vector<std::string> shown;
  if (body.return_documents) shown = body.documents;
  call.documents = std::move(body.documents);
  service.score(exchange, std::move(call),
                [exchange, top_n = body.top_n, shown = std::move(shown)](const Outcome<Vectors>& outcome) {
                  if (const auto* refusal = std::get_if<Refusal>(&outcome))
                    return refuse(*exchange, rerank_protocol(), *refusal);
                  answer_text(*exchange, ranking_text(std::get<Vectors>(outcome), top_n, shown));
                });
}

Json ranking_schema() {
  Json item = typed_schema("object", "");
  item["properties"]["index"] = typed_schema("integer", "The document's position in the request.");
  item["properties"]["relevance_score"] = typed_schema("number", "From 0 to 1; the MaxSim of a multi-vector encoder.");
  item["properties"]["document"] = typed_schema("object", "The document, with its text.");
  item["required"] = Json::array({"index", "relevance_score"});
  Json schema = typed_schema("object", "");
  schema["properties"]["object"] = typed_schema("string", "");
  schema["properties"]["model"] = typed_schema("string", "");
  schema["properties"]["results"] = typed_schema("array", "Best first.");
  schema["properties"]["results"]["items"] = std::move(item);
  schema["properties"]["usage"] = usage_schema();
  schema["required"] = Json::array({"model", "results", "usage"});
  return schema;
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>([] {
    std::vector<Route> made;
    for (const std::string_view path : {"/v1/rerank", "/v2/rerank", "/v3/rerank"}) {
      made.push_back({.method = "POST",
                      .path = path,
                      .handle = rerank,
                      .summary = "Ranks documents for a query.",
                      .body = [] { return schema_of(kRanking); },
                      .answers = {{.status = 200, .description = "The scores.", .schema = ranking_schema}}});
    }
    return made;
  }());
  return all;
}

}  // namespace
}  // namespace reranking

bool is_ranking_of_documents(const Json& body) {
  return body.contains("documents") && !body.contains("texts");
}

void rank_documents(const ExchangePtr& exchange, Service& service) {
  reranking::rerank(exchange, {}, service);
}

const Protocol& rerank_protocol() {
  static constexpr Protocol kProtocol{.name = "rerank",
                                      .about = "The rerank request of Jina and Cohere.",
                                      .routes = reranking::routes,
                                      .refuse = reranking::answer_of,
                                      .refusal_schema = reranking::refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
