// Base64 (RFC 4648, section 4): reading and writing. Pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// The bytes that `text` stands for. Nothing where it is not Base64 in the one form that its bytes have: without white
// space, padded, and with no bits left over.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

// Appends the Base64 of `bytes`, padded, in one line.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace latebind::core
