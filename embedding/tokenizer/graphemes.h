// Where graphemes end: what people take for one character, as UAX #29 has it (extended grapheme clusters, Unicode 17).
//
// A pure function; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace latebind::embedding {

// The end of the grapheme that begins at `begin`, which is before the end of the text and where one begins. `text` must
// be well-formed UTF-8. Two regional indicators count as two (see unicode::GraphemeClass).
[[nodiscard]] std::size_t end_of_grapheme(std::string_view text, std::size_t begin);

}  // namespace latebind::embedding
