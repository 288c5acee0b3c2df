#include "embedding/tokenizer/models/model_vocabulary.h"

#include <fmt/format.h>

#include "core/text/quote.h"

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

Status finish_vocabulary(const JsonView& model, Vocabulary& vocabulary) {
  const nlohmann::json* vocab = model.find("vocab");
  // The reader of the document leaves this where it has taken an object away.
  if (vocab == nullptr || !vocab->is_boolean()) {
    return {StatusCode::kInvalidModel, "model has no 'vocab' (an object)"};
  }
  if (Status status = vocabulary.finish(); !status.ok()) return status.with_context("model.vocab");
  if (vocabulary.size() == 0) return {StatusCode::kInvalidModel, "model.vocab is empty"};
  return {};
}

core::Result<std::int32_t> find_unknown(const Vocabulary& vocabulary, std::string_view unk_token) {
  const auto unknown = vocabulary.find(unk_token);
  if (unknown) return *unknown;
  return Status(StatusCode::kInvalidModel,
                fmt::format("model.unk_token {} is not in the vocabulary", core::quoted(unk_token)));
}

}  // namespace latebind::embedding
