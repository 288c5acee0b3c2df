// The similarity of two texts as in vLLM's score API (https://docs.vllm.ai), with OpenAI's errors. A cross-encoder or a
// multi-vector encoder computes scores; for an embedder, the score is the cosine of its vectors.
#include "embedding/outputs/score.h"

#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text/format_to.h"
#include "server/protocols/instruct_member.h"
#include "server/protocols/json_body.h"
#include "server/protocols/relevance.h"
#include "server/protocols/role_member.h"
#include "server/protocols/route.h"
#include "server/protocols/text_members.h"
#include "server/protocols/usage.h"

namespace latebind::server {
namespace scoring {
namespace {

using app::Json;

struct ScoreBody {
  std::string model;
  std::vector<std::string> first;
  std::vector<std::string> second;
  TextLimit first_limit;
  TextLimit second_limit;
  std::optional<bool> truncate;
  std::optional<std::string> instruct;
};

Problem read_one_or_several(const Json& value, TextLimit& limit, std::vector<std::string>& texts) {
  if (auto problem = read_text_or_texts(value, limit, texts)) return problem;
  if (limit.count_of(texts.size()) == 0) return "must not be empty";
  return std::nullopt;
}

Json texts_schema() {
  Json texts = typed_schema("array", "");
  texts["items"] = typed_schema("string", "");
  texts["minItems"] = 1;
  Json schema;
  schema["description"] =
      "One text or several. A single text_1 is compared with each text_2; otherwise both have the same number of "
      "texts.";
  schema["anyOf"] = Json::array({typed_schema("string", ""), std::move(texts)});
  return schema;
}

constexpr std::array kScore{
    Member<ScoreBody>{
        "model", false,
        [] { return typed_schema("string", "A served model (default: the first one that gives scores)."); },
        [](const Json& value, ScoreBody& body) { return read_text(value, body.model); }},
    Member<ScoreBody>{
        "text_1", true, texts_schema,
        [](const Json& value, ScoreBody& body) { return read_one_or_several(value, body.first_limit, body.first); }},
    Member<ScoreBody>{
        "text_2", true, texts_schema,
        [](const Json& value, ScoreBody& body) { return read_one_or_several(value, body.second_limit, body.second); }},
    Member<ScoreBody>{"truncate", false,
                      [] { return typed_schema("boolean", "Cuts texts that are too long instead of refusing them."); },
                      [](const Json& value, ScoreBody& body) { return read_bool(value, body.truncate.emplace()); }},
    kInstruct<ScoreBody>,
    kNoRole<ScoreBody>,
};

std::string scores_text(const Vectors& numbers, std::span<const float> scores, std::string_view id) {
  const auto created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  std::string text = R"({"id":)";
  core::append_json_string(text, id);
  fmt::format_to(std::back_inserter(text), R"(,"object":"list","created":{},"model":)", created.count());
  core::append_json_string(text, numbers.model->name);
  text += R"(,"data":[)";
  for (std::size_t i = 0; i < scores.size(); ++i) {
    fmt::format_to(std::back_inserter(text), R"({}{{"index":{},"object":"score","score":{}}})", i > 0 ? "," : "", i,
                   scores[i]);
  }
  return text + R"(],"usage":)" + usage_text(numbers) + '}';
}

// `vectors` has `first` vectors of text_1, followed by those of text_2.
std::vector<float> cosines_of(const Vectors& vectors, std::size_t first) {
  std::vector<float> cosines;
  for (std::size_t i = first; i < vectors.count(); ++i)
    cosines.push_back(cosine_of(vectors.row(first == 1 ? 0 : i - first), vectors.row(i)));
  return cosines;
}

// Answers with scores_of(numbers).
template <class ScoresOf>
std::function<void(Outcome<Vectors>)> answering(const ExchangePtr& exchange, ScoresOf scores_of) {
  return [exchange, scores_of](const Outcome<Vectors>& outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, score_protocol(), *refusal);
    const Vectors& numbers = std::get<Vectors>(outcome);
    answer_text(*exchange, scores_text(numbers, scores_of(numbers), exchange->record().id));
  };
}

void score(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  ScoreBody body;
  body.first_limit.most = body.second_limit.most = service.limits().texts_max;
  if (const auto refusal = read_body(exchange->request().body, kScore, body))
    return refuse(*exchange, score_protocol(), *refusal);
  const std::size_t first = body.first_limit.count_of(body.first.size());
  const std::size_t second = body.second_limit.count_of(body.second.size());
  if (first != 1 && first != second) {
    return refuse(*exchange, score_protocol(),
                  {.kind = RefusalKind::kBadRequest,
                   .message = "'text_1' must be one text, or as many as 'text_2' has",
                   .param = "text_1"});
  }
  const auto chosen = service.find_scoring(body.model);
  if (const auto* refusal = std::get_if<Refusal>(&chosen)) return refuse(*exchange, score_protocol(), *refusal);
  const ServedModel& model = *std::get<const ServedModel*>(chosen);
  const std::size_t too_many = second > service.limits().texts_max ? second : 0;
  if (body.instruct && !model.gives(embedding::kScoreOutput.name)) {
    return refuse(*exchange, score_protocol(),
                  {.kind = RefusalKind::kUnsupported,
                   .message = "'instruct' is for cross-encoders, and " + model.name + " is not one",
                   .param = "instruct"});
  }
  if (model.gives(embedding::kDenseOutput.name)) {
    VectorCall call;
    call.model = model.name;
    call.names = {.list = "text_2", .before = "text_1", .count_before = first};
    call.too_many = first + second > service.limits().texts_max ? first + second : 0;
    call.truncate = body.truncate;
    auto& texts = std::get<0>(call.texts);
    texts = std::move(body.first);
    texts.insert(texts.end(), std::make_move_iterator(body.second.begin()), std::make_move_iterator(body.second.end()));
    return service.embed(exchange, std::move(call),
                         answering(exchange, [first](const Vectors& vectors) { return cosines_of(vectors, first); }));
  }
  if (first > 1) {
    PredictCall call;
    call.model = model.name;
    call.names.list = "text_2";
    call.too_many = too_many;
    call.truncate = body.truncate;
    call.instruct = std::move(body.instruct);
    auto& pairs = call.inputs.emplace<1>();
    for (std::size_t i = 0; i < std::min(body.first.size(), body.second.size()); ++i)
      pairs.push_back({std::move(body.first[i]), std::move(body.second[i])});
    const auto* const output = model.own<embedding::ScoreOutput>();
    if (output != nullptr && output->labels().size() == 1)
      return service.predict(exchange, std::move(call), answering(exchange, relevance_of));
    return refuse(*exchange, score_protocol(),
                  {.kind = RefusalKind::kUnsupported,
                   .message = model.name + " compares one text with others: 'text_1' must be a single text",
                   .param = "text_1"});
  }
  ScoreCall call;
  call.model = model.name;
  call.names.list = "text_2";
  call.query = std::move(body.first.front());
  call.documents = std::move(body.second);
  call.too_many = too_many;
  call.truncate = body.truncate;
  call.instruct = std::move(body.instruct);
  service.score(exchange, std::move(call), answering(exchange, relevance_of));
}

Json scores_schema() {
  Json item = typed_schema("object", "");
  item["properties"]["index"] = typed_schema("integer", "");
  item["properties"]["object"] = typed_schema("string", "");
  item["properties"]["score"] =
      typed_schema("number", "From 0 to 1 for a cross-encoder; otherwise MaxSim or a cosine.");
  item["required"] = Json::array({"index", "object", "score"});
  Json schema = typed_schema("object", "");
  for (const char* name : {"id", "object", "model"})
    schema["properties"][name] = typed_schema("string", "");
  schema["properties"]["created"] = typed_schema("integer", "Seconds since 1970.");
  schema["properties"]["data"] = typed_schema("array", "In the order of the texts.");
  schema["properties"]["data"]["items"] = std::move(item);
  schema["properties"]["usage"] = usage_schema();
  schema["required"] = Json::array({"id", "object", "created", "model", "data", "usage"});
  return schema;
}

std::span<const Route> routes() {
  static const auto& all = *new std::vector<Route>([] {
    std::vector<Route> made;
    for (const std::string_view path : {"/score", "/v1/score"}) {
      made.push_back({.method = "POST",
                      .path = path,
                      .handle = score,
                      .summary = "Scores the similarity of pairs of texts.",
                      .body = [] { return schema_of(kScore); },
                      .answers = {{.status = 200, .description = "The scores.", .schema = scores_schema}}});
    }
    return made;
  }());
  return all;
}

}  // namespace
}  // namespace scoring

const Protocol& score_protocol() {
  static const Protocol kProtocol{.name = "score",
                                  .about = "The score request of vLLM.",
                                  .routes = scoring::routes,
                                  .refuse = openai_protocol().refuse,
                                  .refusal_schema = openai_protocol().refusal_schema};
  return kProtocol;
}

}  // namespace latebind::server
