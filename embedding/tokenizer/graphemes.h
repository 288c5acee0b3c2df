// The ends of graphemes: what people see as one character, as defined by UAX #29 (extended grapheme clusters, Unicode
// 17).
//
// A pure function; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::embedding {

// The end of the grapheme that begins at `begin`, which must be the beginning of one, before the end of the text.
// `text` must be well-formed UTF-8. Two regional indicators count as two (see unicode::GraphemeClass).
[[nodiscard]] std::size_t end_of_grapheme(std::string_view text, std::size_t begin);

}  // namespace latebind::embedding
