// Base64 (RFC 4648, section 4): reading. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// The bytes that `text` stands for. Nothing where it is not Base64 in the one form that its bytes have: without white
// space, padded, and with no bits left over.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

}  // namespace latebind::core
