// The character classes that an expression can name, as the reference's engine defines them.
//
// Pure functions, any thread; slow (milliseconds at first), so only used while a file is opened.
#pragma once

#include <optional>
#include <string_view>

#include "embedding/tokenizer/patterns/code_point_set.h"

namespace latebind::embedding {

// \p{…}: general categories by their short names, "L" or "Lu". std::nullopt for an unknown name.
[[nodiscard]] std::optional<CodePointSet> characters_of_category(std::string_view name);
// \s, \d and \w by their letters. Outside of brackets, \w has a few more characters.
[[nodiscard]] CodePointSet characters_of_shorthand(char letter, bool in_brackets);

}  // namespace latebind::embedding
