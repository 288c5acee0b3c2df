// The error for inputs that may not be cut.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "embedding/inputs/token_table.h"

namespace latebind::embedding {

// Tokens of a text that is too long are counted up to here, for the error that says how many it has.
inline constexpr std::size_t kCountedMax = std::size_t{1} << 17;

inline core::Status too_long(std::size_t tokens, std::size_t max_tokens) {
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

}  // namespace latebind::embedding
