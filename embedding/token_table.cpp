#include "embedding/token_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/text/utf8.h"

namespace latebind::embedding {

void TokenTable::clear() {
  ids_.clear();
  begins_.clear();
  lengths_.clear();
  truncated_.clear();
  type_one_from_.clear();
  pooled_from_.clear();
  unattended_from_.clear();
  kept_.clear();
  vector_begins_.clear();
  vector_counts_.clear();
  vector_count_ = 0;
}

namespace {

// Tokens of a text that is too long are counted up to here, for the error that says how many it has.
constexpr std::size_t kCountedMax = std::size_t{1} << 17;

core::Status too_long(std::size_t tokens, std::size_t max_tokens) {
  const std::size_t most = std::max(kCountedMax, max_tokens);
  return core::Status(core::StatusCode::kTextTooLong,
                      fmt::format("the text has {}{} tokens; at most {} are taken", tokens > most ? "more than " : "",
                                  std::min(tokens, most), max_tokens));
}

// The error for a text or a pair that may not be cut. `encode` appends its ids, at most so many.
template <class Encode>
core::Status refuse_longer(const TokenLimits& limits, const Encode& encode) {
  std::vector<std::int32_t> ids;
  LB_RETURN_IF_ERROR(encode(std::max(kCountedMax, limits.max_tokens) + 1, ids));
  return too_long(ids.size(), limits.max_tokens);
}

// So much of a text, behind its prompt, decides which tokens the prompt has before it.
constexpr std::size_t kBesidePromptBytes = 128;

// Whether no token of what follows the prompt stayed. `whole` is the prompt and the text, cut at its end.
core::Result<bool> is_only_prompt(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view whole) {
  const std::size_t prompt = limits.prompt.size();
  std::vector<std::int32_t> ids;
  if (!tokenizer.gives_offsets().ok()) {
    LB_RETURN_IF_ERROR(tokenizer.encode(limits.prompt, limits.max_tokens, ids));
    return ids.size() >= limits.max_tokens;
  }
  // By where they are: before another text a prompt may have other tokens than alone. The whole text, which takes its
  // time, only to be sure that it is to be refused.
  std::vector<TokenOffsets> offsets;
  const std::string_view front = core::cut_utf8(whole, prompt + kBesidePromptBytes);
  for (const std::string_view part : {front, whole}) {
    ids.clear();
    offsets.clear();
    LB_RETURN_IF_ERROR(tokenizer.encode_with_offsets(part, limits.max_tokens, Tokenizer::Cut::kEnd, ids, offsets));
    if (std::ranges::any_of(offsets, [&](const TokenOffsets& of) { return of.end > prompt; })) return false;
    if (part.size() == whole.size()) break;
  }
  return true;
}

// Of a text that was cut: whether its own tokens are among those that stayed. The prompt is at the front of `whole`.
core::Status check_rest(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view whole,
                        std::size_t length) {
  if (whole.size() <= limits.prompt.size()) return {};  // an empty text has nothing to lose
  const std::size_t special = tokenizer.tokens_before() + tokenizer.tokens_after();
  bool is_gone = length <= special;
  if (!is_gone && !limits.keep_end && !limits.prompt.empty()) {
    LB_ASSIGN_OR_RETURN(is_gone, is_only_prompt(tokenizer, limits, whole));
  }
  if (!is_gone) return {};
  return core::Status(
      core::StatusCode::kInvalidArgument,
      fmt::format("at most {} tokens leave none of the text: {} are special ones{}; take more", limits.max_tokens,
                  special, limits.prompt.empty() ? "" : ", the others the prompt's"));
}

// The first unknown one; null when the model knows all.
const std::int32_t* unknown_id(std::span<const std::int32_t> ids, std::size_t vocabulary_size) {
  for (const std::int32_t& id : ids) {
    if (id < 0 || (vocabulary_size > 0 && static_cast<std::size_t>(id) >= vocabulary_size)) return &id;
  }
  return nullptr;
}

}  // namespace

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view text) {
  if (limits.prompt.empty()) return add_alone(tokenizer, limits, text);
  std::string whole;
  whole.reserve(limits.prompt.size() + text.size());
  whole.append(limits.prompt).append(text);
  core::Status status = add_alone(tokenizer, limits, whole, limits.prompt_tokens);
  // A position in a text that its owner does not have is of no use to him.
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
    // What was cut of the prompt stood behind the first special tokens.
    const std::size_t inside = prompt_tokens - std::min(prompt_tokens, tokenizer.tokens_before());
    prompt_tokens -= std::min(inside, cut);
  } else {
    LB_RETURN_IF_ERROR(tokenizer.encode(text, limits.max_tokens, ids_));
  }
  const std::size_t length = ids_.size() - begin;
  if (length == limits.max_tokens && !limits.keep_end) {
    // As long as it may be: requesting one more shows whether the text was cut. Such texts cost far more to compute.
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

core::Status TokenTable::check(std::size_t begin, const TokenLimits& limits) const {
  if (const auto* id = unknown_id(std::span(ids_).subspan(begin), limits.vocabulary_size); id != nullptr) {
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("the tokenizer gave token id {}, but the model knows only ids below {}: "
                                    "tokenizer.json and the weights do not belong together",
                                    *id, limits.vocabulary_size));
  }
  return {};
}

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair) {
  const std::size_t begin = ids_.size();
  LB_ASSIGN_OR_RETURN(const EncodedPair encoded,
                      tokenizer.encode_pair(pair.first, pair.second,
                                            {.max_tokens = limits.max_tokens, .keep_end = limits.keep_end}, ids_));
  core::Status status = check(begin, limits);
  if (status.ok() && encoded.is_cut && limits.refuse_longer) {
    status = refuse_longer(limits, [&](std::size_t most, auto& all) {
      return tokenizer.encode_pair(pair.first, pair.second, {.max_tokens = most}, all).status();
    });
  }
  if (status.ok() && ids_.size() == begin) {
    status = core::Status(core::StatusCode::kInvalidArgument, "there is no token in both texts together");
  }
  if (status.ok() && encoded.lacks_a_text) {
    status =
        core::Status(core::StatusCode::kInvalidArgument,
                     fmt::format("at most {} tokens leave none of one of the two texts; take more", limits.max_tokens));
  }
  if (!status.ok()) {
    ids_.resize(begin);
    return status;
  }
  type_one_from_.push_back(
      static_cast<std::uint32_t>(limits.token_types ? encoded.type_one_from : ids_.size() - begin));
  close(begin, encoded.is_cut);
  return {};
}

core::Status TokenTable::add(std::span<const std::int32_t> ids, const TokenLimits& limits) {
  if (ids.empty()) return core::Status(core::StatusCode::kInvalidArgument, "there is no token in it");
  if (const auto* id = unknown_id(ids, limits.vocabulary_size); id != nullptr) {
    return core::Status(core::StatusCode::kInvalidArgument,
                        fmt::format("no token has the id {}; ids are below {}", *id, limits.vocabulary_size));
  }
  const bool is_cut = ids.size() > limits.max_tokens;
  if (is_cut && limits.refuse_longer) return too_long(ids.size(), limits.max_tokens);
  const std::size_t count = std::min(ids.size(), limits.max_tokens);
  const auto kept = limits.keep_end ? ids.last(count) : ids.first(count);
  const std::size_t begin = ids_.size();
  ids_.insert(ids_.end(), kept.begin(), kept.end());
  return finish(begin, is_cut, limits);
}

core::Status TokenTable::finish(std::size_t begin, bool is_cut, const TokenLimits& limits, std::size_t pooled_from) {
  const std::size_t length = ids_.size() - begin;
  std::size_t filled = 0;
  if (limits.filling) {
    const Filling& filling = *limits.filling;
    if (length == 0) return core::Status(core::StatusCode::kInvalidArgument, "there is no token in it to fill up from");
    if (length < filling.length) filled = filling.length - length;
    ids_.resize(ids_.size() + filled, filling.id);
    unattended_from_.push_back(static_cast<std::uint32_t>(filling.is_attended ? length + filled : length));
  }
  if (limits.filter != nullptr) {
    const bool keeps_filling = !limits.filling || limits.filling->is_kept;
    vector_begins_.push_back(vector_count_);
    std::uint32_t count = 0;
    for (std::size_t i = begin; i < ids_.size(); ++i) {
      const bool is_kept = (keeps_filling || i < begin + length) && limits.filter->keeps(ids_[i]);
      kept_.push_back(is_kept ? 1 : 0);
      if (is_kept) ++count;
    }
    vector_counts_.push_back(count);
    vector_count_ += count;
  }
  close(begin, is_cut, pooled_from);
  return {};
}

void TokenTable::close(std::size_t begin, bool is_cut, std::size_t pooled_from) {
  if (pooled_from > 0) {
    pooled_from_.resize(begins_.size());
    pooled_from_.push_back(static_cast<std::uint32_t>(pooled_from));
  }
  if (is_cut) truncated_.push_back(begins_.size());
  begins_.push_back(begin);
  lengths_.push_back(static_cast<std::uint32_t>(ids_.size() - begin));
}

void TokenTable::append(const TokenTable& other) {
  const std::size_t base = ids_.size();
  const std::size_t first = begins_.size();
  ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
  for (const std::size_t begin : other.begins_)
    begins_.push_back(base + begin);
  lengths_.insert(lengths_.end(), other.lengths_.begin(), other.lengths_.end());
  type_one_from_.insert(type_one_from_.end(), other.type_one_from_.begin(), other.type_one_from_.end());
  if (!other.pooled_from_.empty()) {
    pooled_from_.resize(first);
    pooled_from_.insert(pooled_from_.end(), other.pooled_from_.begin(), other.pooled_from_.end());
  }
  unattended_from_.insert(unattended_from_.end(), other.unattended_from_.begin(), other.unattended_from_.end());
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  for (const std::size_t first_vector : other.vector_begins_)
    vector_begins_.push_back(vector_count_ + first_vector);
  vector_counts_.insert(vector_counts_.end(), other.vector_counts_.begin(), other.vector_counts_.end());
  vector_count_ += other.vector_count_;
  for (const std::size_t text : other.truncated_)
    truncated_.push_back(first + text);
}

}  // namespace latebind::embedding
