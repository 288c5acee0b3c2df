// Turns two texts into one row of the network.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/text/utf8.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/pair_frame.h"
#include "embedding/inputs/too_long.h"

namespace latebind::embedding {

const Input kPairInput{.name = "pair", .list = "pairs"};

core::Status TokenTable::add(const Tokenizer& tokenizer, const TokenLimits& limits, const TextPair& pair) {
  if (limits.frame != nullptr) return add_framed(tokenizer, limits, pair);
  if (!limits.prompt.empty()) {
    TokenLimits without = limits;
    without.prompt.clear();
    // An invalid text is refused without the prompt, so that the error gives a position in the caller's text.
    if (core::find_invalid_utf8(pair.first)) return add(tokenizer, without, pair);
    const std::string first = limits.prompt + std::string(pair.first);
    return add(tokenizer, without, TextPair{.first = first, .second = pair.second});
  }
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
