// Words in a model's files: each is one of those that are known here, or refused with the nearest of these.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"

namespace latebind::embedding {

// kUnsupported: "FILE: 'KEY' is 'WORD'; the nearest name that works is …; supported are …".
[[nodiscard]] core::Status unknown_word(const std::filesystem::path& file, std::string_view key, std::string_view word,
                                        std::span<const std::string_view> known);

// The text of `key`, `known[0]` where it is absent or null. unknown_word() for one that is not among `known`.
[[nodiscard]] core::Result<std::string> read_word(const nlohmann::json& config, const char* key,
                                                  const std::filesystem::path& file,
                                                  std::span<const std::string_view> known);

}  // namespace latebind::embedding
