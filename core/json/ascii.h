// JSON text in ASCII, for readers that split lines at other characters than '\n'. A pure function, for any thread.
#pragma once

#include <string>
#include <string_view>

namespace latebind::core {

// Returns the JSON text, which is UTF-8, with an escape for every character that is not printable ASCII. Such
// characters are in strings only.
[[nodiscard]] std::string ascii_json(std::string_view text);

}  // namespace latebind::core
