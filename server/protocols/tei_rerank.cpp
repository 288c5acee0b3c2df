// text-embeddings-inference: ranks texts for a query.
#include <iterator>
#include <limits>
#include <utility>

#include "core/text/format_to.h"
#include "embedding/cross_encoder.h"
#include "server/protocols/instruct_member.h"
#include "server/protocols/mix_member.h"
#include "server/protocols/relevance.h"
#include "server/protocols/rerank.h"
#include "server/protocols/tei_parts.h"

namespace latebind::server::tei {
namespace {

using app::Json;

struct RerankBody {
  std::string query;
  std::vector<std::string> texts;
  TextLimit limit;
  std::optional<bool> truncate;
  std::optional<embedding::MixedWeights> mix;
  std::optional<std::string> instruct;
  bool keep_end = false;
  bool raw_scores = false;
  bool return_text = false;
};

constexpr std::array kRerank{
    Member<RerankBody>{"query", true, [] { return typed_schema("string", "The query."); },
                       [](const Json& value, RerankBody& body) { return read_text(value, body.query); }},
    Member<RerankBody>{"texts", true, [] { return some_schema(typed_schema("string", "")); },
                       [](const Json& value, RerankBody& body) { return read_texts(value, body.limit, body.texts); }},
    kTruncate<RerankBody>,
    kDirection<RerankBody>,
    Member<RerankBody>{
        "raw_scores", false,
        [] { return typed_schema("boolean", "Returns the network's logits instead of scores from 0 to 1."); },
        [](const Json& value, RerankBody& body) { return read_bool(value, body.raw_scores); }},
    Member<RerankBody>{"return_text", false,
                       [] { return typed_schema("boolean", "Returns each text with its score."); },
                       [](const Json& value, RerankBody& body) { return read_bool(value, body.return_text); }},
    kMix<RerankBody>,
    kInstruct<RerankBody>,
    kNoRole<RerankBody>,
};

std::string ranks_text(const Vectors& numbers, bool raw, std::span<const std::string> texts) {
  const std::vector<float> scores = raw ? numbers.rows().numbers : relevance_of(numbers);
  std::string text = "[";
  for (const std::size_t index : embedding::rank_by_score(scores, scores.size())) {
    if (text.size() > 1) text += ',';
    fmt::format_to(std::back_inserter(text), R"({{"index":{})", index);
    if (!texts.empty()) {
      text += R"(,"text":)";
      core::append_json_string(text, texts[index]);
    }
    fmt::format_to(std::back_inserter(text), R"(,"score":{}}})", scores[index]);
  }
  text += ']';
  return text;
}

}  // namespace

void rerank(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  Json json;
  if (const auto refusal = parse_body(exchange->request().body, json)) return refuse_no_json(*exchange, *refusal);
  if (is_ranking_of_documents(json)) return rank_documents(exchange, service);
  RerankBody body;
  body.limit.most = service.limits().texts_max;
  if (const auto refusal = read_members(json, kRerank, body)) return refuse(*exchange, tei_protocol(), *refusal);
  if (body.limit.count_of(body.texts.size()) == 0) return refuse_empty(*exchange, "texts");
  ScoreCall call;
  call.names.list = "texts";
  call.query = std::move(body.query);
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.mix = body.mix;
  call.instruct = std::move(body.instruct);
  call.keep_end = body.keep_end;
  std::vector<std::string> shown;
  if (body.return_text) shown = body.texts;
  call.documents = std::move(body.texts);
  service.score(exchange, std::move(call),
                answering(exchange, [raw = body.raw_scores, shown = std::move(shown)](const Vectors& numbers) {
                  return ranks_text(numbers, raw, shown);
                }));
}

Json rerank_body() {
  return schema_of(kRerank);
}

Json rerank_answer() {
  Json item = typed_schema("object", "");
  item["properties"]["index"] = typed_schema("integer", "The text's position in the request.");
  item["properties"]["score"] = typed_schema("number", "");
  item["properties"]["text"] = typed_schema("string", "");
  item["required"] = Json::array({"index", "score"});
  return list_schema(std::move(item), "Best first.");
}

}  // namespace latebind::server::tei
