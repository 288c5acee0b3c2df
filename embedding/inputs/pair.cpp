// Turns two texts into one row of the network.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/utf8.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/only_prompt.h"
#include "embedding/inputs/pair_frame.h"
#include "embedding/inputs/too_long.h"

namespace latebind::embedding {

const Input kPairInput{.name = "pair", .list = "pairs"};

namespace {

// Returns an error if the tokens that are left of the first text are those of its prompt. `whole` is both.
core::Status check_first(const Tokenizer& tokenizer, const TokenLimits& limits, std::string_view whole,
                         std::size_t tokens) {
  const std::size_t special = tokenizer.tokens_before() + tokenizer.tokens_after();
  LB_ASSIGN_OR_RETURN(const bool is_gone, is_only_prompt(tokenizer, tokens + special, whole, limits.prompt.size()));
  if (!is_gone || whole.size() == limits.prompt.size()) return {};
  return {
      core::StatusCode::kInvalidArgument,
      fmt::format("at most {} tokens leave none of the first text after its prompt; take more, or shorten the prompt",
                  limits.max_tokens)};
}

}  // namespace

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair) {
  if (limits.frame != nullptr) return add_framed(tokenizer, limits, pair);
  std::string with_prompt;
  std::string_view first = pair.first;
  // An invalid text is refused without the prompt, so that the error gives a position in the caller's text.
  if (!limits.prompt.empty() && !core::find_invalid_utf8(pair.first)) {
    with_prompt = limits.prompt + std::string(pair.first);
    first = with_prompt;
  }
  const std::size_t begin = ids_.size();
  LB_ASSIGN_OR_RETURN(
      const EncodedPair encoded,
      tokenizer.encode_pair(first, pair.second, {.max_tokens = limits.max_tokens, .keep_end = limits.keep_end}, ids_));
  core::Status status = check(begin, limits);
  if (status.ok() && encoded.is_cut && limits.refuse_longer) {
    status = refuse_longer(limits, [&](std::size_t most, auto& all) {
      return tokenizer.encode_pair(first, pair.second, {.max_tokens = most}, all).status();
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
  if (status.ok() && encoded.first_is_cut && !limits.keep_end && first.size() > pair.first.size()) {
    status = check_first(tokenizer, limits, first, encoded.first_tokens);
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

core::Status TokenTable::add_framed(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair) {
  for (const auto& [text, name] : {std::pair{pair.first, "first"}, std::pair{pair.second, "second"}}) {
    if (const auto bad = core::find_invalid_utf8(text)) {
      return {core::StatusCode::kInvalidArgument, fmt::format("the {} text is not UTF-8 at byte {}", name, *bad)};
    }
  }
  if (limits.keep_end) {
    return {core::StatusCode::kUnsupported,
            "the model takes its texts in a chat template: cutting them at their beginning is not supported"};
  }
  const auto encode = [&](std::size_t most) {
    return limits.frame->encode(tokenizer, pair.first, pair.second, limits.prompt, most);
  };
  LB_ASSIGN_OR_RETURN(const FramedRow row, encode(limits.max_tokens));
  if (row.is_cut && limits.refuse_longer) {
    if (!row.excess.empty()) return {core::StatusCode::kTextTooLong, row.excess};
    return refuse_longer(limits, [&](std::size_t most, auto& all) -> core::Status {
      LB_ASSIGN_OR_RETURN(FramedRow longer, encode(most));
      all = std::move(longer.ids);
      return {};
    });
  }
  if (!row.lost.empty()) return {core::StatusCode::kInvalidArgument, row.lost};
  if (row.ids.empty()) return {core::StatusCode::kInvalidArgument, "there is no token in both texts together"};
  const std::size_t begin = ids_.size();
  ids_.insert(ids_.end(), row.ids.begin(), row.ids.end());
  if (core::Status status = check(begin, limits); !status.ok()) {
    ids_.resize(begin);
    return status;
  }
  type_one_from_.push_back(static_cast<std::uint32_t>(ids_.size() - begin));
  close(begin, row.is_cut);
  return {};
}

}  // namespace latebind::embedding
