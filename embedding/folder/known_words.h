// Reads words in a model's files. A word is either known or refused with the nearest known one. Pure functions; any
// thread may call them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

// Returns kUnsupported: "FILE: 'KEY' is 'WORD'; the nearest name that works is …; supported are …".
[[nodiscard]] core::Status unknown_word(const std::filesystem::path& file, std::string_view key, std::string_view word,
                                        std::span<const std::string_view> known);

// Returns the text of `key`, or `known[0]` if the key is absent or null. Returns unknown_word() for a text that is not
// in `known`.
[[nodiscard]] core::Result<std::string> read_word(const core::Json& config, const char* key,
                                                  const std::filesystem::path& file,
                                                  std::span<const std::string_view> known);

}  // namespace latebind::embedding
