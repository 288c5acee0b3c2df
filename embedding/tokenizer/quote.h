// quote(): a string from a file, fit for a one-line message.
#pragma once

#include <string>
#include <string_view>

namespace latebind::embedding {

// In double quotes, control characters and invalid bytes as \xNN, cut after 64 bytes.
[[nodiscard]] std::string quote(std::string_view text);

}  // namespace latebind::embedding
