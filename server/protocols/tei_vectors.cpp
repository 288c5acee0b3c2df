// text-embeddings-inference: computes vectors of texts and their similarity.
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text/format_to.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/sparse.h"
#include "embedding/outputs/token_vectors.h"
#include "server/protocols/relevance.h"
#include "server/protocols/tei_parts.h"

namespace latebind::server::tei {
namespace {

using app::Json;
using std::chrono::steady_clock;

constexpr std::size_t kDimensionsMax = std::size_t{1} << 20;

struct EmbedBody {
  TextsOrIds inputs;
  TextLimit limit;
  std::optional<bool> truncate;
  bool keep_end = false;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
  bool normalize = true;
  std::size_t dimensions = 0;
};

struct SimilarityBody {
  std::vector<std::string> texts;  // the source sentence is the first one
  TextLimit limit;
  std::optional<bool> truncate;
  bool keep_end = false;
  std::optional<std::string> prompt_name;
  std::optional<std::string> task;
  embedding::TextRole role = embedding::TextRole::kUnspecified;
};

Problem read_inputs(const Json& value, EmbedBody& body) {
  return read_texts_or_ids(value, body.limit, body.inputs);
}

Json inputs_schema() {
  const Json ids = some_schema(id_schema());
  const Json text = typed_schema("string", "");
  Json schema;
  schema["description"] = "One text or several, or their token ids, including special tokens.";
  schema["anyOf"] = Json::array({text, some_schema(text), ids, some_schema(ids)});
  return schema;
}

// Token vectors and sparse vectors have only one form.
constexpr std::array kEmbedAll{Member<EmbedBody>{"inputs", true, inputs_schema, read_inputs},
                               kTruncate<EmbedBody>,
                               kDirection<EmbedBody>,
                               kPromptName<EmbedBody>,
                               kTask<EmbedBody>,
                               kRole<EmbedBody>};

constexpr std::array kEmbed{
    Member<EmbedBody>{"inputs", true, inputs_schema, read_inputs},
    kTruncate<EmbedBody>,
    kDirection<EmbedBody>,
    kPromptName<EmbedBody>,
    kTask<EmbedBody>,
    kRole<EmbedBody>,
    Member<EmbedBody>{"normalize", false,
                      [] {
                        Json schema = typed_schema("boolean", "Scales vectors to length 1.");
                        schema["default"] = true;
                        return schema;
                      },
                      [](const Json& value, EmbedBody& body) { return read_bool(value, body.normalize); }},
    Member<EmbedBody>{
        "dimensions", false,
        [] {
          Json schema = typed_schema("integer", "Keeps this many numbers of each vector.");
          schema["minimum"] = 1;
          return schema;
        },
        [](const Json& value, EmbedBody& body) { return read_size(value, 1, kDimensionsMax, body.dimensions); }},
};

constexpr std::array kSentences{
    Member<SimilarityBody>{
        "source_sentence", true, [] { return typed_schema("string", ""); },
        [](const Json& value, SimilarityBody& body) { return read_text(value, body.texts.emplace_back()); }},
    Member<SimilarityBody>{
        "sentences", true, [] { return some_schema(typed_schema("string", "")); },
        [](const Json& value, SimilarityBody& body) { return read_texts(value, body.limit, body.texts); }},
};

constexpr std::array kParameters{kTruncate<SimilarityBody>, kDirection<SimilarityBody>, kPromptName<SimilarityBody>,
                                 kTask<SimilarityBody>, kRole<SimilarityBody>};

constexpr std::array kSimilarity{
    Member<SimilarityBody>{
        "inputs", true, [] { return schema_of(kSentences); },
        [](const Json& value, SimilarityBody& body) { return read_object(value, kSentences, body); }},
    Member<SimilarityBody>{
        "parameters", false, [] { return schema_of(kParameters); },
        [](const Json& value, SimilarityBody& body) { return read_object(value, kParameters, body); }},
    // At the top level as on the other paths, or within `parameters` like the original's parameters.
    Member<SimilarityBody>{"role", false, role_schema,
                           [](const Json& value, SimilarityBody& body) -> Problem {
                             const embedding::TextRole of_parameters = body.role;
                             if (auto problem = read_role(value, body.role)) return problem;
                             if (of_parameters == embedding::TextRole::kUnspecified || of_parameters == body.role)
                               return std::nullopt;
                             return "differs from the one in 'parameters'";
                           }},
};

std::string milliseconds_of(steady_clock::duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// Whole milliseconds. As in the original, token ids count as characters, and the computing time is that of the request.
void set_headers(HttpResponse& response, const Exchange& exchange, const Vectors& vectors, std::uint64_t characters) {
  const auto total = milliseconds_of(steady_clock::now() - exchange.record().arrived);
  response.set("x-compute-type", exchange.record().device);
  response.set("x-compute-time", total);
  response.set("x-compute-characters", std::to_string(characters));
  response.set("x-compute-tokens", std::to_string(vectors.tokens));
  response.set("x-total-time", total);
  response.set("x-tokenization-time", milliseconds_of(vectors.tokenizing));
  response.set("x-queue-time", milliseconds_of(vectors.waiting));
  response.set("x-inference-time", milliseconds_of(vectors.computing));
}

// Answers with text_of(vectors).
template <class TextOf>
void embed_call(const ExchangePtr& exchange, Service& service, VectorCall call, TextOf text_of) {
  std::optional<std::uint64_t> ids;
  if (const auto* lists = std::get_if<1>(&call.texts)) {
    ids = 0;
    for (const auto& list : *lists)
      *ids += list.size();
  }
  service.embed(exchange, std::move(call), [exchange, ids, text_of](Outcome<Vectors> outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) return refuse(*exchange, tei_protocol(), *refusal);
    const Vectors& vectors = std::get<Vectors>(outcome);
    HttpResponse response;
    response.body = text_of(vectors);
    set_headers(response, *exchange, vectors, ids.value_or(exchange->record().characters));
    exchange->answer(std::move(response));
  });
}

std::string vectors_text(const Vectors& vectors) {
  std::string text;
  text.reserve(vectors.count() * vectors.dimension() * 14 + 16);
  for (std::size_t i = 0; i < vectors.count(); ++i) {
    text += i > 0 ? ',' : '[';
    append_numbers(text, vectors.row(i));
  }
  text += ']';
  return text;
}

std::string token_vectors_text(const Vectors& vectors) {
  std::string text;
  const embedding::RaggedRows& rows = vectors.ragged();
  text.reserve(rows.numbers.size() * 14 + rows.size() * 4 + 16);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += i > 0 ? ",[" : "[[";
    for (auto rest = rows.of(i); !rest.empty(); rest = rest.subspan(rows.dimension)) {
      if (rest.size() < rows.of(i).size()) text += ',';
      append_numbers(text, rest.first(rows.dimension));
    }
    text += ']';
  }
  text += ']';
  return text;
}

std::string sparse_text(const Vectors& vectors) {
  std::string text = "[";
  for (const embedding::SparseVector& vector : vectors.sparse().vectors) {
    text += text.size() > 1 ? ",[" : "[";
    for (std::size_t i = 0; i < vector.indices.size(); ++i) {
      fmt::format_to(std::back_inserter(text), R"({}{{"index":{},"value":{}}})", i > 0 ? "," : "", vector.indices[i],
                     vector.values[i]);
    }
    text += ']';
  }
  text += ']';
  return text;
}

// Returns the cosine between the first sentence's vector and each of the others.
std::string similarities_text(const Vectors& vectors) {
  std::vector<float> cosines;
  for (std::size_t i = 1; i < vectors.count(); ++i)
    cosines.push_back(cosine_of(vectors.row(0), vectors.row(i)));
  std::string text;
  append_numbers(text, cosines);
  return text;
}

// Returns false after refusing the request.
bool read_embed(const ExchangePtr& exchange, const auto& members, const Service& service, EmbedBody& body) {
  body.limit.most = service.limits().texts_max;
  if (!read_body(exchange, members, body)) return false;
  const std::size_t read = std::visit([](const auto& inputs) { return inputs.size(); }, body.inputs);
  if (body.limit.count_of(read) > 0) return true;
  refuse_empty(*exchange, "inputs");
  return false;
}

// Makes the call with the body's texts.
VectorCall take_call(EmbedBody& body) {
  VectorCall call;
  call.names.list = "inputs";
  call.texts = std::move(body.inputs);
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.keep_end = body.keep_end;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  call.role = body.role;
  return call;
}

}  // namespace

void embed(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbedBody body;
  if (!read_embed(exchange, kEmbed, service, body)) return;
  if (!body.normalize) {
    const auto found = service.find("");
    const auto* const model = std::get_if<const ServedModel*>(&found);
    const auto* const dense = model != nullptr ? (*model)->encoder_of(embedding::kDenseOutput.name) : nullptr;
    if (dense != nullptr && dense->normalizes()) {
      return refuse(*exchange, tei_protocol(),
                    {.kind = RefusalKind::kUnsupported,
                     .message = (*model)->name + " always normalises its vectors: leave out 'normalize': false",
                     .param = "normalize"});
    }
  }
  VectorCall call = take_call(body);
  call.dimensions = body.dimensions;
  call.normalize = body.normalize;
  embed_call(exchange, service, std::move(call), vectors_text);
}

void answer_root(const ExchangePtr& exchange, const PathValues& values, Service& service) {
  // Only a body with the member is parsed twice.
  constexpr std::string_view kSource = "source_sentence";
  const std::string_view text = exchange->request().body;
  Json body;
  if (text.find(kSource) != std::string_view::npos && !parse_body(text, body) &&
      std::as_const(body)["inputs"].contains(kSource)) {
    return similarity(exchange, values, service);
  }
  return embed(exchange, values, service);
}

void embed_all(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbedBody body;
  if (!read_embed(exchange, kEmbedAll, service, body)) return;
  // The model's own vectors of tokens come before those of its network.
  const std::array outputs{embedding::kMultiVectorOutput.name, embedding::kTokenVectorsOutput.name};
  const auto found = service.find_giving("", outputs);
  const auto* const model = std::get_if<const ServedModel*>(&found);
  const bool is_own = model != nullptr && (*model)->gives(outputs[0]);
  VectorCall call = take_call(body);
  call.outputs = {std::string(outputs[is_own ? 0 : 1])};
  embed_call(exchange, service, std::move(call), token_vectors_text);
}

void embed_sparse(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  EmbedBody body;
  if (!read_embed(exchange, kEmbedAll, service, body)) return;
  VectorCall call = take_call(body);
  call.outputs = {std::string(embedding::kSparseOutput.name)};
  embed_call(exchange, service, std::move(call), sparse_text);
}

void similarity(const ExchangePtr& exchange, const PathValues& /*values*/, Service& service) {
  SimilarityBody body;
  body.limit.most = service.limits().texts_max;
  if (!read_body(exchange, kSimilarity, body)) return;
  if (body.limit.count_of(body.texts.size()) < 2) return refuse_empty(*exchange, "inputs.sentences");
  VectorCall call;
  call.names = {.list = "sentences", .before = "source_sentence", .count_before = 1};
  call.texts = std::move(body.texts);
  call.too_many = body.limit.too_many;
  call.truncate = body.truncate;
  call.keep_end = body.keep_end;
  call.prompt_name = std::move(body.prompt_name);
  call.task = std::move(body.task);
  call.role = body.role;
  embed_call(exchange, service, std::move(call), similarities_text);
}

Json embed_body() {
  return schema_of(kEmbed);
}

Json embed_answer() {
  return list_schema(list_schema(typed_schema("number", "")), "One vector for each text.");
}

Json embed_all_body() {
  return schema_of(kEmbedAll);
}

Json embed_all_answer() {
  const Json vector = list_schema(typed_schema("number", ""));
  return list_schema(list_schema(vector), "One vector for each token of each text, including special tokens.");
}

Json embed_sparse_body() {
  return schema_of(kEmbedAll);
}

Json embed_sparse_answer() {
  Json entry = typed_schema("object", "");
  entry["properties"]["index"] = typed_schema("integer", "The id in the vocabulary.");
  entry["properties"]["value"] = typed_schema("number", "Its weight, above 0.");
  entry["required"] = Json::array({"index", "value"});
  return list_schema(list_schema(std::move(entry), "Sorted by index."), "The weights of each text.");
}

Json similarity_body() {
  return schema_of(kSimilarity);
}

Json similarity_answer() {
  return list_schema(typed_schema("number", ""), "The cosine of each sentence.");
}

}  // namespace latebind::server::tei
