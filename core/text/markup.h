// Text as part of XML or HTML. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// Escapes text for the content of an element and for an attribute in quotes of either kind.
[[nodiscard]] std::string escaped_for_markup(std::string_view text);

}  // namespace latebind::core
