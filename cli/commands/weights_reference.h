// Returns the chapters of docs/models.md about weights in folders and in GGUF files.
#pragma once

#include <string_view>

namespace latebind::cli {

[[nodiscard]] std::string_view weights_reference();

}  // namespace latebind::cli
