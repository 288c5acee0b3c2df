// The chapter of docs/models.md about GGUF. A constant; any thread.
#pragma once

#include <string_view>

namespace latebind::cli {

[[nodiscard]] std::string_view gguf_reference();

}  // namespace latebind::cli
