#include "embedding/token_table.h"

#include <fmt/format.h>

namespace latebind::embedding {

void TokenTable::clear() {
  ids_.clear();
  begins_.clear();
  lengths_.clear();
  truncated_ = 0;
}

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text) {
  const std::size_t begin = ids_.size();
  LB_RETURN_IF_ERROR(tokenizer.encode(text, limits.max_tokens, ids_));
  const std::size_t length = ids_.size() - begin;
  if (length == limits.max_tokens) {
    // As long as it may be: asking for one more tells whether the text was cut. Such texts cost far more to compute.
    const core::Status status = tokenizer.encode(text, limits.max_tokens + 1, ids_);
    if (status.ok() && ids_.size() - begin - length > limits.max_tokens) ++truncated_;
    ids_.resize(begin + length);
  }
  if (limits.vocabulary_size > 0) {
    for (std::size_t i = begin; i < ids_.size(); ++i) {
      const std::int32_t id = ids_[i];
      if (id >= 0 && static_cast<std::size_t>(id) < limits.vocabulary_size) continue;
      ids_.resize(begin);
      return core::Status(core::StatusCode::kInvalidModel,
                          fmt::format("the tokenizer gave token id {}, but the model knows only ids below {}: "
                                      "tokenizer.json and the weights do not belong together",
                                      id, limits.vocabulary_size));
    }
  }
  begins_.push_back(begin);
  lengths_.push_back(static_cast<std::uint32_t>(length));
  return {};
}

void TokenTable::append(const TokenTable& other) {
  const std::size_t base = ids_.size();
  ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
  for (const std::size_t begin : other.begins_)
    begins_.push_back(base + begin);
  lengths_.insert(lengths_.end(), other.lengths_.begin(), other.lengths_.end());
  truncated_ += other.truncated_;
}

}  // namespace latebind::embedding
