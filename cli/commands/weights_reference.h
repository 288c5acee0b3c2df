// The chapters of docs/models.md about weights, in folders and in GGUF. A constant; any thread.
#pragma once

#include <string_view>

namespace latebind::cli {

[[nodiscard]] std::string_view weights_reference();

}  // namespace latebind::cli
