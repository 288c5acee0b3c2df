#include "embedding/tokenizer/models/model_vocabulary.h"

#include <fmt/format.h>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

Status finished(VocabularyKind kind, ModelLists& lists) {
  switch (kind) {
    case VocabularyKind::kIds:
      return lists.finished ? *lists.finished : lists.vocabulary.finish();
    case VocabularyKind::kSteps:
      return lists.vocabulary.finish_steps();
    case VocabularyKind::kScores:
      break;
  }
  return lists.vocabulary.finish_trie();
}

}  // namespace

Status finish_vocabulary(const JsonView& model, VocabularyKind kind, ModelLists& lists) {
  const core::Json* vocab = model.find("vocab");
  const bool has_scores = kind == VocabularyKind::kScores;
  // The document reader leaves `true` in place of the object or array that it has moved to the lists.
  if (vocab == nullptr || !vocab->is_boolean() || lists.scores.has_value() != has_scores) {
    return {StatusCode::kInvalidModel, fmt::format("{} has no 'vocab' ({})", model.name(),
                                                   has_scores ? "an array of tokens and scores" : "an object")};
  }
  Status status = finished(kind, lists);
  if (!status.ok()) return std::move(status).with_context(model.name() + ".vocab");
  if (lists.vocabulary.size() == 0) return {StatusCode::kInvalidModel, fmt::format("{}.vocab is empty", model.name())};
  return {};
}

core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token) {
  const auto unknown = vocabulary.find(unk_token);
  if (unknown) return *unknown;
  return Status(StatusCode::kInvalidModel,
                fmt::format("model.unk_token {} is not in the vocabulary", core::quoted(unk_token)));
}

}  // namespace latebind::embedding
