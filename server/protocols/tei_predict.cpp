// text-embeddings-inference: classifies texts or pairs of texts.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/text/counted.h"
#include "core/text/format_to.h"
#include "embedding/cross_encoder.h"
#include "embedding/outputs/score.h"
#include "server/protocols/instruct_member.h"
#include "server/protocols/role_member.h"
#include "server/protocols/tei_parts.h"

namespace latebind::server::tei {
namespace {

using app::Json;

struct PredictBody {
  std::vector<std::string> texts;
  std::vector<std::array<std::string, 2>> pairs;
  bool is_single = false;  // a single input, whose answer is not in a list
  TextLimit limit;
  std::optional<bool> truncate;
  bool keep_end = false;
  bool raw_scores = false;
  std::optional<std::string> instruct;
};

// Reads a text or a pair. `place` is that of the array within the member, or empty for the member itself.
Problem read_sequence(const Json& items, std::string_view place, PredictBody& body) {
  std::vector<std::string> texts;
  if (items.size() == 0 || items.size() > 2) {
    return fmt::format("has {} in the array{}{}; expected one or two", core::counted(items.size(), "text"),
                       place.empty() ? "" : " at ", place);
  }
  for (const Json& item : items) {
    if (read_text(item, texts.emplace_back())) {
      return unexpected_item(item, fmt::format("{}[{}]", place, texts.size() - 1), "a string");
    }
  }
  if (texts.size() == 1) {
    body.texts.push_back(std::move(texts[0]));
  } else {
    body.pairs.push_back({std::move(texts[0]), std::move(texts[1])});
  }
  if (body.texts.empty() || body.pairs.empty()) return std::nullopt;
  return fmt::format("mixes texts with pairs of them, from {} on", place);
}

Problem read_sequences(const Json& value, PredictBody& body) {
  body.is_single = true;
  if (value.is_string()) return read_text(value, body.texts.emplace_back());
  if (!value.is_array()) {
    return fmt::format("must be a text, one or two in an array, or an array of these, not {}", kind_of(value));
  }
  if (value.empty()) return std::nullopt;
  if (!value.front().is_array()) return read_sequence(value, {}, body);
  body.is_single = false;
  if (!body.limit.has_room_for(value.size())) return std::nullopt;
  for (const Json& item : value) {
    const std::string place = fmt::format("[{}]", body.texts.size() + body.pairs.size());
    if (!item.is_array()) return unexpected_item(item, place, "an array of one or two strings");
    if (auto problem = read_sequence(item, place, body)) return problem;
  }
  return std::nullopt;
}

Json sequences_schema() {
  const Json text = typed_schema("string", "");
  Json sequence = some_schema(text);
  sequence["maxItems"] = 2;
  Json schema;
  schema["description"] = "A text or a pair of texts, or an array of either.";
  schema["anyOf"] = Json::array({text, sequence, some_schema(sequence)});
  return schema;
}

constexpr std::array kPredict{
    Member<PredictBody>{"inputs", true, sequences_schema, read_sequences},
    kTruncate<PredictBody>,
    kDirection<PredictBody>,
    kInstruct<PredictBody>,
    kNoRole<PredictBody>,
    Member<PredictBody>{
        "raw_scores", false,
        [] { return typed_schema("boolean", "Returns the network's logits instead of scores from 0 to 1."); },
        [](const Json& value, PredictBody& body) { return read_bool(value, body.raw_scores); }},
};

// Converts to probabilities as in the original: between 0 and 1, and with a sum of 1 if there are several.
void make_shares(std::span<float> numbers) {
  if (numbers.size() == 1) {
    numbers[0] = embedding::sigmoid(numbers[0]);
    return;
  }
  const float largest = *std::ranges::max_element(numbers);
  double sum = 0;
  for (float& number : numbers) {
    number = std::exp(number - largest);
    sum += number;
  }
  for (float& number : numbers)
    number = static_cast<float>(number / sum);
}

void append_labels(std::string& text, std::span<float> numbers, std::span<const std::string> labels, bool raw) {
  if (!raw) make_shares(numbers);
  text += '[';
  bool is_first = true;
  for (const std::size_t label : embedding::rank_by_score(numbers, numbers.size())) {
    if (!std::exchange(is_first, false)) text += ',';
    fmt::format_to(std::back_inserter(text), R"({{"score":{},"label":)", numbers[label]);
    core::append_json_string(text, labels[label]);
    text += '}';
  }
  text += ']';
}

std::string labels_text(Vectors& numbers, bool raw, bool is_single) {
  const auto& labels = numbers.model->own<embedding::ScoreOutput>()->labels();
  std::string text;
  if (!is_single) text += '[';
  for (std::size_t i = 0; i < numbers.count(); ++i) {
    if (i > 0) text += ',';
    append_labels(text, std::span(numbers.rows().numbers).subspan(i * numbers.dimension(), numbers.dimension()), labels,
                  raw);
  }
  if (!is_single) text += ']';
  return text;
}

}  // namespace

void predict(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  PredictBody body;
  body.limit.most = service.limits().texts_max;
  if (!read_body(exchange, kPredict, body)) return;
  if (body.limit.count_of(body.texts.size() + body.pairs.size()) == 0) return refuse_empty(*exchange, "inputs");
  PredictCall call;
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.keep_end = body.keep_end;
  call.instruct = std::move(body.instruct);
  if (body.pairs.empty()) {
    call.inputs = std::move(body.texts);
  } else {
    call.inputs = std::move(body.pairs);
  }
  service.predict(exchange, std::move(call),
                  answering(exchange, [raw = body.raw_scores, is_single = body.is_single](Vectors& numbers) {
                    return labels_text(numbers, raw, is_single);
                  }));
}

Json predict_body() {
  return schema_of(kPredict);
}

Json predict_answer() {
  Json item = typed_schema("object", "");
  item["properties"]["score"] = typed_schema("number", "");
  item["properties"]["label"] = typed_schema("string", "");
  item["required"] = Json::array({"score", "label"});
  const Json labels = list_schema(std::move(item), "Best first.");
  Json schema;
  schema["anyOf"] = Json::array({labels, list_schema(labels)});
  return schema;
}

}  // namespace latebind::server::tei
