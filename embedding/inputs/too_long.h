// The errors for inputs that are too long and must not be cut. Pure functions; any thread may call them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/result.h"
#include "embedding/inputs/token_table.h"

namespace latebind::embedding {

// The tokens of a text that is too long are counted up to this number, for the error message.
inline constexpr std::size_t kCountedMax = std::size_t{1} << 17;

inline core::Status too_long(std::size_t tokens, std::size_t max_tokens) {
  const std::size_t most = std::max(kCountedMax, max_tokens);
  return core::Status(core::StatusCode::kTextTooLong,
                      fmt::format("the text has {}{} tokens; at most {} are taken", tokens > most ? "more than " : "",
                                  std::min(tokens, most), max_tokens));
}

// Returns the error for a text or a pair that must not be cut. `encode` appends its ids, at most the given number.
template <class Encode>
core::Status refuse_longer(const TokenLimits& limits, const Encode& encode) {
  std::vector<std::int32_t> ids;
  LB_RETURN_IF_ERROR(encode(std::max(kCountedMax, limits.max_tokens) + 1, ids));
  return too_long(ids.size(), limits.max_tokens);
}

}  // namespace latebind::embedding
