#include "cli/terminal/reranker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/quote.h"

namespace latebind::cli {

using core::Result;
using core::Status;

Result<std::unique_ptr<Reranker>> Reranker::of(std::unique_ptr<embedding::Embedder> network, const std::string& model,
                                               const Options& options) {
  std::unique_ptr<Reranker> reranker(new Reranker);
  reranker->raw_scores_ = options.raw_scores;
  reranker->instruction_ = options.instruction;
  if (options.instruction && !network->gives(embedding::kScoreOutput.name)) {
    return Status(core::StatusCode::kUnsupported,
                  fmt::format("--instruct is for cross-encoders, and {} is not one: its prompts are --prompt and "
                              "--query-prompt of `latebind search`",
                              model));
  }
  auto comparison =
      embedding::Comparison::of(network->documents().outputs(), options.mix.value_or(embedding::MixedWeights()));
  if (comparison && comparison->is_mixed()) {
    reranker->mixed_ = std::move(network);
    reranker->comparison_ = std::move(comparison);
    return reranker;
  }
  if (options.mix) {
    return Status(
        core::StatusCode::kUnsupported,
        fmt::format("--mix has the weights of dense, sparse and multi_vector, and {} does not give all three", model));
  }
  if (network->gives(embedding::kMultiVectorOutput.name)) {
    reranker->late_ = embedding::MultiVectorEncoder::of(std::move(network));
    return reranker;
  }
  if (!network->gives(embedding::kScoreOutput.name)) {
    return embedding::no_such_output(model, embedding::kScoreOutput.name, network->model_outputs());
  }
  reranker->pairs_ = embedding::CrossEncoder::of(std::move(network));
  const auto& labels = reranker->pairs_->labels();
  if (labels.size() != 1) {
    return Status(core::StatusCode::kUnsupported,
                  fmt::format("the model gives {} numbers for a pair ({}), but ranking needs one score", labels.size(),
                              core::printable(fmt::format("{}", fmt::join(labels, ", ")))));
  }
  return reranker;
}

Result<ScoreDocuments> Reranker::scores(const std::string& query, const embedding::PromptChoice& query_prompt,
                                        const embedding::PromptChoice& prompt) const {
  if (mixed_) return compared_scores(*mixed_, *comparison_, query, query_prompt, prompt);
  if (late_) return multi_vector_scores(*late_, query, query_prompt, prompt);
  return ScoreDocuments([this, query](std::span<const std::string_view> documents, std::span<float> scores) {
    std::vector<embedding::TextPair> pairs;
    pairs.reserve(documents.size());
    for (const std::string_view document : documents)
      pairs.push_back({query, document});
    embedding::EmbedOptions of_call;
    if (instruction_) of_call.texts.prompt.text = *instruction_;
    return pairs_->score(pairs, scores, of_call, raw_scores_);
  });
}

void add_mix(Command& app, std::string& mix) {
  add_text(app, "--mix", mix, "DENSE,SPARSE,MULTI",
           "Weights of the three scores of a model that gives dense, sparse and multi_vector results, such as bge-m3 "
           "(default: 0.4,0.2,0.4).");
}

void add_instruct(Command& app, std::optional<std::string>& instruction) {
  app.add_option(
         "--instruct",
         [&instruction](const std::string& given) -> Status {
           instruction = given;
           return {};
         },
         "Instruction of a cross-encoder that takes one, such as Qwen3-Reranker; '' for none (default: the model's).")
      ->type_name("TEXT");
}

}  // namespace latebind::cli
