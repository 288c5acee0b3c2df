// Base64 (RFC 4648, section 4): reading and writing. Pure functions, for any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace latebind::core {

// Returns the bytes that `text` encodes. std::nullopt if `text` is not their one canonical encoding: without white
// space, padded, and with no bits left over.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

// Appends the Base64 of `bytes`, padded, in one line.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace latebind::core
