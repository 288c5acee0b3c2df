// About how many tokens texts have at least, before they are counted.
//
// Half as many as most languages make of their bytes, and none of blanks. Where a queue is nearly full this refuses
// most of what the number would, before a processor that others wait for spends its time on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace latebind::server {

// Bytes that are no blanks.
[[nodiscard]] std::uint64_t solid_bytes(std::string_view text);

// Of one row, a text or a pair of them, with so many solid bytes; a row has at most `tokens_max`.
[[nodiscard]] std::uint64_t likely_tokens(std::uint64_t bytes, std::size_t tokens_max);

// Of rows that have a text and `beside` more bytes each: a prompt, or a query.
[[nodiscard]] std::uint64_t likely_tokens(std::span<const std::string> texts, std::uint64_t beside,
                                          std::size_t tokens_max);

}  // namespace latebind::server
