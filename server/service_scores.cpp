// Computes scores and labels: of documents for a query, and of single texts or pairs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "embedding/comparison.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/score.h"
#include "server/likely_tokens.h"
#include "server/service.h"
#include "server/service_parts.h"

namespace latebind::server {

namespace {

// The memory per score in an answer, without the document.
constexpr std::uint64_t kScoreBytes = 96;

// Returns how a served model compares a query with documents, or std::nullopt if it does not.
std::optional<embedding::Comparison> comparison_of(const ServedModel& model, const embedding::MixedWeights& weights) {
  for (const auto& encoder : model.encoders) {
    if (auto found = embedding::Comparison::of(encoder->documents().outputs(), weights)) return found;
  }
  return std::nullopt;
}

// Converts the documents' results to one score each.
Vectors scores_of(const embedding::Comparison& comparison, const Vectors& query, Vectors documents) {
  embedding::Rows scores{.dimension = 1, .numbers = comparison.scores(query.results, documents.results)};
  documents.results.clear();
  documents.results.emplace_back(std::move(scores));
  documents.tokens += query.tokens;
  documents.truncated_texts += query.truncated_texts;
  documents.tokenizing += query.tokenizing;
  documents.waiting += query.waiting;
  documents.computing += query.computing;
  return documents;
}

}  // namespace

// Computes the query's results first and then the documents'.
void Service::score_late(const ExchangePtr& exchange, const ServedModel& model, const embedding::Comparison& comparison,
                         ScoreCall call, std::function<void(Outcome<Vectors>)> done) {
  const embedding::Embedder& network = *model.encoder_of(comparison.outputs());
  const std::size_t count = call.too_many > 0 ? call.too_many : call.documents.size();
  exchange->note([&](RequestRecord& record) {
    record.is_embedding = true;
    record.texts = count;
    record.characters = characters_of(call.documents);
    record.model = model.name;
  });
  if (count > limits_.texts_max) {
    return done(Refusal{.kind = RefusalKind::kTooManyTexts,
                        .message = fmt::format("{} documents in one request; at most {}", count, limits_.texts_max),
                        .param = std::string(call.names.list)});
  }
  const std::uint64_t tokens_max = kTokenVectorBytesMax / (network.dimension() * sizeof(float));
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  for (const std::string& document : call.documents) {
    tokens += std::min<std::uint64_t>(document.size() + 8, network.max_tokens());
    bytes += document.size() + kScoreBytes;
  }
  bytes += std::min(tokens, tokens_max) * network.dimension() * sizeof(float);
  const std::uint64_t likely = likely_tokens(solid_bytes(call.query), network.max_tokens()) +
                               likely_tokens(call.documents, 0, network.max_tokens());
  if (auto refusal = reserve(*exchange, network.documents(), likely, bytes)) return done(*std::move(refusal));
  embedding::TaskOptions options;
  options.texts.refuse_longer = !call.truncate.value_or(limits_.auto_truncate);
  options.texts.keep_end = call.keep_end;
  options.outputs.assign(comparison.outputs().begin(), comparison.outputs().end());
  options.queue_tokens_max = limits_.queue_tokens_max;
  options.tokens_max = tokens_max;
  options.name_of = call.names;

  auto rank = [this, exchange, &model, &network, comparison, options,
               documents = std::make_shared<std::vector<std::string>>(std::move(call.documents)),
               done = std::move(done)](Outcome<Vectors> asked) mutable {
    if (std::holds_alternative<Refusal>(asked)) return done(std::move(asked));
    auto query = std::make_shared<const Vectors>(std::move(std::get<Vectors>(asked)));
    options.texts.role = embedding::TextRole::kDocument;
    auto answer = [exchange, query, comparison, done = std::move(done)](Outcome<Vectors> found) {
      if (auto* vectors = std::get_if<Vectors>(&found)) {
        *vectors = scores_of(comparison, *query, std::move(*vectors));
        exchange->note([&](RequestRecord& record) {
          record.tokens = vectors->tokens;
          record.truncated_texts = vectors->truncated_texts;
        });
      }
      done(std::move(found));
    };
    compute(exchange, model, std::move(answer), [&](embedding::EmbedTask::Done over) {
      const std::vector<std::string_view> views(documents->begin(), documents->end());
      return embedding::EmbedTask::start(network, std::span(views), options, std::move(over));
    });
  };
  embedding::TaskOptions of_query = options;
  of_query.texts.role = embedding::TextRole::kQuery;
  of_query.name_of = [](std::uint64_t /*position*/) { return std::string("query"); };
  compute(exchange, model, std::move(rank), [&](embedding::EmbedTask::Done over) {
    const std::string_view view = call.query;
    return embedding::EmbedTask::start(network, std::span(&view, 1), of_query, std::move(over));
  });
}

Outcome<const ServedModel*> Service::find_scoring(std::string_view name) const {
  auto found = find(name);
  if (!name.empty() || std::holds_alternative<Refusal>(found)) return found;
  for (const auto& model : models_) {
    if (model->gives(embedding::kScoreOutput.name) || model->gives(embedding::kMultiVectorOutput.name))
      return model.get();
  }
  return found;
}

void Service::score(const ExchangePtr& exchange, ScoreCall call, std::function<void(Outcome<Vectors>)> done) {
  const auto found = find_scoring(call.model);
  const auto* const chosen = std::get_if<const ServedModel*>(&found);
  if (chosen != nullptr && (*chosen)->texts() != nullptr &&
      call.document_tokens_max < (*chosen)->texts()->max_tokens()) {
    return done(
        Refusal{.kind = RefusalKind::kUnsupported,
                .message = fmt::format("'max_tokens_per_doc' is {}, but documents are cut only together with their "
                                       "query, to {} tokens by {}: leave it out, or send shorter documents",
                                       call.document_tokens_max, (*chosen)->texts()->max_tokens(), (*chosen)->name),
                .param = "max_tokens_per_doc"});
  }
  if (chosen != nullptr) {
    const auto comparison = comparison_of(**chosen, call.mix.value_or(embedding::MixedWeights()));
    if (call.mix && (!comparison || !comparison->is_mixed())) {
      return done(Refusal{.kind = RefusalKind::kUnsupported,
                          .message = fmt::format("'mix' has the weights of dense, sparse and multi_vector, and {} does "
                                                 "not give all three: leave it out",
                                                 (*chosen)->name),
                          .param = "mix"});
    }
    if (comparison && call.instruct) {
      return done(
          Refusal{.kind = RefusalKind::kUnsupported,
                  .message = fmt::format("'instruct' is for cross-encoders, and {} is not one", (*chosen)->name),
                  .param = "instruct"});
    }
    if (comparison) return score_late(exchange, **chosen, *comparison, std::move(call), std::move(done));
  }
  std::uint64_t bytes = 0;
  for (const std::string& document : call.documents)
    bytes += document.size() + kScoreBytes;
  const ScoreRequest request{
      .model = call.model,
      .count = call.too_many > 0 ? call.too_many : call.documents.size(),
      .characters = characters_of(call.documents),
      .answer_bytes = bytes,
      .likely_tokens =
          [&](std::size_t tokens_max) { return likely_tokens(call.documents, solid_bytes(call.query), tokens_max); },
      .names = call.names,
      .ranks = true,
      .truncate = call.truncate,
      .keep_end = call.keep_end,
      .instruct = call.instruct};
  compute_scores(exchange, request, std::move(done), [&](const auto& network, const auto& options, auto over) {
    std::vector<embedding::TextPair> pairs;
    pairs.reserve(call.documents.size());
    for (const std::string& document : call.documents)
      pairs.push_back({call.query, document});
    return embedding::EmbedTask::start(network, std::span<const embedding::TextPair>(pairs), options, std::move(over));
  });
}

void Service::predict(const ExchangePtr& exchange, PredictCall call, std::function<void(Outcome<Vectors>)> done) {
  const auto* const texts = std::get_if<std::vector<std::string>>(&call.inputs);
  const auto* const pairs = std::get_if<std::vector<std::array<std::string, 2>>>(&call.inputs);
  const std::size_t read = texts != nullptr ? texts->size() : pairs->size();
  std::uint64_t characters = texts != nullptr ? characters_of(*texts) : 0;
  for (std::size_t i = 0; pairs != nullptr && i < pairs->size(); ++i)
    characters += characters_of((*pairs)[i]);
  const std::size_t count = call.too_many > 0 ? call.too_many : read;
  const auto likely = [&](std::size_t tokens_max) {
    if (texts != nullptr) return likely_tokens(*texts, 0, tokens_max);
    std::uint64_t tokens = 0;
    for (const auto& [first, second] : *pairs)
      tokens += likely_tokens(solid_bytes(first) + solid_bytes(second), tokens_max);
    return tokens;
  };
  const ScoreRequest request{.model = call.model,
                             .count = count,
                             .characters = characters,
                             .likely_tokens = likely,
                             .names = call.names,
                             .truncate = call.truncate,
                             .keep_end = call.keep_end,
                             .instruct = call.instruct};
  compute_scores(exchange, request, std::move(done), [&](const auto& network, const auto& options, auto over) {
    if (texts != nullptr) {
      const std::vector<std::string_view> views(texts->begin(), texts->end());
      return embedding::EmbedTask::start(network, std::span(std::as_const(views)), options, std::move(over));
    }
    std::vector<embedding::TextPair> views;
    views.reserve(pairs->size());
    for (const auto& [first, second] : *pairs)
      views.push_back({first, second});
    return embedding::EmbedTask::start(network, std::span(std::as_const(views)), options, std::move(over));
  });
}

void Service::compute_scores(const ExchangePtr& exchange, const ScoreRequest& request,
                             std::function<void(Outcome<Vectors>)> done, const StartScores& start) {
  const std::array wanted{embedding::kScoreOutput.name};
  const auto found = find_giving(request.model, wanted);
  exchange->note([&](RequestRecord& record) {
    record.is_embedding = true;
    record.texts = request.count;
    record.characters = request.characters;
    if (const auto* given = std::get_if<const ServedModel*>(&found)) record.model = (*given)->name;
  });
  if (const auto* refusal = std::get_if<Refusal>(&found)) return done(*refusal);
  const ServedModel* const model = std::get<const ServedModel*>(found);
  const auto* const output = model->own<embedding::ScoreOutput>();
  if (output == nullptr || (request.ranks && output->labels().size() != 1)) {
    return done(Refusal{.kind = RefusalKind::kUnsupported,
                        .message = fmt::format("{} does not give {}: use a cross-encoder", model->name,
                                               request.ranks ? "scores for two texts" : "labels"),
                        .param = "model"});
  }
  if (request.count > limits_.texts_max) {
    return done(Refusal{.kind = RefusalKind::kTooManyTexts,
                        .message = fmt::format("{} {} in one request; at most {}", request.count, request.names.list,
                                               limits_.texts_max),
                        .param = std::string(request.names.list)});
  }
  const embedding::Embedder& network = *model->texts();
  std::uint64_t bytes = request.answer_bytes;
  for (const std::string& label : output->labels())
    bytes += request.ranks ? 0 : request.count * (label.size() + kScoreBytes);
  const std::uint64_t likely = request.likely_tokens(network.max_tokens());
  if (auto refusal = reserve(*exchange, network.documents(), likely, bytes)) return done(*std::move(refusal));
  embedding::TaskOptions options;
  options.outputs = {std::string(embedding::kScoreOutput.name)};
  options.texts.refuse_longer = !request.truncate.value_or(limits_.auto_truncate);
  options.texts.keep_end = request.keep_end;
  options.texts.prompt.text = request.instruct;
  options.name_of = request.names;
  options.queue_tokens_max = limits_.queue_tokens_max;
  compute(exchange, *model, std::move(done),
          [&](embedding::EmbedTask::Done over) { return start(network, options, std::move(over)); });
}

}  // namespace latebind::server
