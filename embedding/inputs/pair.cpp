// Turns two texts into one row of the network.
#include <fmt/format.h>

#include "embedding/inputs/input.h"
#include "embedding/inputs/too_long.h"

namespace latebind::embedding {

const Input kPairInput{.name = "pair", .list = "pairs"};

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

}  // namespace latebind::embedding
