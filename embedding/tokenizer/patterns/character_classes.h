// The classes of characters that an expression can name, as the reference's engine has them.
//
// Pure functions, any thread; slow (milliseconds at first): only for when a file is opened.
#pragma once

#include <optional>
#include <string_view>

#include "embedding/tokenizer/patterns/code_point_set.h"

namespace latebind::embedding {

// \p{…}: general categories by their short names, "L" or "Lu". Nothing: no such name.
[[nodiscard]] std::optional<CodePointSet> characters_of_category(std::string_view name);
// \s, \d and \w by their letters. Outside of brackets \w has a few more characters.
[[nodiscard]] CodePointSet characters_of_shorthand(char letter, bool in_brackets);

}  // namespace latebind::embedding
