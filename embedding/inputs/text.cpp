// Turns a text, given as text or as token ids, into a row of the network.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/text/utf8.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/only_prompt.h"
#include "embedding/inputs/too_long.h"

namespace latebind::embedding {

const Input kTextInput{.name = "text", .list = "texts"};

namespace {

// Returns an error if no token of the text itself remained after the cut. The prompt is at the front of `whole`.
core::Status check_rest(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view whole,
                        std::size_t length) {
  if (whole.size() <= limits.prompt.size()) return {};  // an empty text loses no token
  const std::size_t special = tokenizer.tokens_before() + tokenizer.tokens_after();
  bool is_gone = length <= special;
  if (!is_gone && !limits.keep_end && !limits.prompt.empty()) {
    LB_ASSIGN_OR_RETURN(is_gone, is_only_prompt(tokenizer, limits.max_tokens, whole, limits.prompt.size()));
  }
  if (!is_gone) return {};
  return core::Status(
      core::StatusCode::kInvalidArgument,
      fmt::format("at most {} tokens leave none of the text: {} are special ones{}; take more", limits.max_tokens,
                  special, limits.prompt.empty() ? "" : ", the others the prompt's"));
}

}  // namespace

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text) {
  if (limits.frame != nullptr) {
    return {core::StatusCode::kUnsupported,
            "the model takes two texts in a chat template; a single text has no place in it"};
  }
  if (limits.prompt.empty()) return add_alone(tokenizer, limits, text);
  std::string whole;
  whole.reserve(limits.prompt.size() + text.size());
  whole.append(limits.prompt).append(text);
  core::Status status = add_alone(tokenizer, limits, whole, limits.prompt_tokens);
  // Errors give positions in the caller's text, without the prompt.
  if (!status.ok() && core::find_invalid_utf8(text)) status = add_alone(tokenizer, limits, text);
  return status;
}

core::Status TokenTable::add_alone(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text,
                                   std::size_t prompt_tokens) {
  const std::size_t begin = ids_.size();
  bool is_cut = false;
  if (limits.keep_end) {
    LB_ASSIGN_OR_RETURN(const std::size_t cut, tokenizer.encode_end(text, limits.max_tokens, ids_));
    is_cut = cut > 0;
    // The cut removed tokens of the prompt after the first special tokens.
    const std::size_t inside = prompt_tokens - std::min(prompt_tokens, tokenizer.tokens_before());
    prompt_tokens -= std::min(inside, cut);
  } else {
    LB_RETURN_IF_ERROR(tokenizer.encode(text, limits.max_tokens, ids_));
  }
  const std::size_t length = ids_.size() - begin;
  if (length == limits.max_tokens && !limits.keep_end) {
    // The text has the maximum length: encoding one token more shows whether it was cut. Computing such texts costs far
    // more.
    const core::Status status = tokenizer.encode(text, limits.max_tokens + 1, ids_);
    is_cut = status.ok() && ids_.size() - begin - length > limits.max_tokens;
    ids_.resize(begin + length);
  }
  core::Status status = check(begin, limits);
  if (status.ok() && is_cut && limits.refuse_longer) {
    status = refuse_longer(limits, [&](std::size_t most, auto& ids) { return tokenizer.encode(text, most, ids); });
  }
  if (status.ok() && is_cut) status = check_rest(tokenizer, limits, text, length);
  if (status.ok() && prompt_tokens > 0 && prompt_tokens >= length) {
    status = core::Status(core::StatusCode::kInvalidArgument,
                          fmt::format("nothing but the prompt is left of the text's {} tokens, of at most {}, and the "
                                      "model's pooling leaves the prompt out",
                                      length, limits.max_tokens));
  }
  if (status.ok()) status = finish(begin, is_cut, limits, prompt_tokens);
  if (!status.ok()) ids_.resize(begin);
  return status;
}

core::Status TokenTable::add(std::span<const std::int32_t> ids, const TokenLimits& limits) {
  return add_ids(ids, limits, limits.vocabulary_size);
}

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, std::span<const std::int32_t> ids) {
  return add_ids(ids, limits, limits.vocabulary_size > 0 ? limits.vocabulary_size : tokenizer.vocabulary_size());
}

core::Status TokenTable::add_ids(std::span<const std::int32_t> ids, const TokenLimits& limits,
                                 std::size_t vocabulary_size) {
  if (ids.empty()) return core::Status(core::StatusCode::kInvalidArgument, "there is no token in it");
  if (const auto* id = unknown_id(ids, vocabulary_size); id != nullptr) {
    return core::Status(core::StatusCode::kInvalidArgument,
                        fmt::format("no token has the id {}; ids are below {}", *id, vocabulary_size));
  }
  const bool is_cut = ids.size() > limits.max_tokens;
  if (is_cut && limits.refuse_longer) return too_long(ids.size(), limits.max_tokens);
  const std::size_t count = std::min(ids.size(), limits.max_tokens);
  const auto kept = limits.keep_end ? ids.last(count) : ids.first(count);
  const std::size_t begin = ids_.size();
  ids_.insert(ids_.end(), kept.begin(), kept.end());
  return finish(begin, is_cut, limits);
}

}  // namespace latebind::embedding
