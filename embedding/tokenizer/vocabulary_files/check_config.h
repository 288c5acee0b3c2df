// Refuses what tokenizer_config.json may not have if there is no tokenizer.json. Pure functions, any thread.
#pragma once

#include <string_view>

#include "core/json/value.h"
#include "core/status.h"

namespace latebind::embedding {

// Returns kUnsupported, naming the key, for keys that would change the tokenizer.
[[nodiscard]] core::Status check_config(const core::Json& config);
// The error for a key of tokenizer_config.json.
[[nodiscard]] core::Status refused_key(std::string_view key, std::string_view what);

}  // namespace latebind::embedding
