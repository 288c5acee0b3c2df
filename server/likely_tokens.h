// Estimates the least number of tokens in a text before it is tokenized.
//
// The estimate is half of what most languages produce per byte, and blanks count as zero. When a queue is nearly full,
// it rejects most of what the exact number would, before tokenizing costs processor time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace latebind::server {

// The number of bytes that are not blanks.
[[nodiscard]] std::uint64_t solid_bytes(std::string_view text);

// The estimate for one row, a text or a pair of texts, with `bytes` solid bytes. A row has at most `tokens_max` tokens.
[[nodiscard]] std::uint64_t likely_tokens(std::uint64_t bytes, std::size_t tokens_max);

// The estimate for rows that consist of a text and `beside` more bytes: a prompt or a query.
[[nodiscard]] std::uint64_t likely_tokens(std::span<const std::string> texts, std::uint64_t beside,
                                          std::size_t tokens_max);

}  // namespace latebind::server
