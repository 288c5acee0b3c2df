// The methods of texts. Constant tables.
#pragma once

#include <span>
#include <string_view>

#include "core/template/run.h"

namespace latebind::templates {

[[nodiscard]] std::span<const Function> text_methods();
// Methods of Python's str that Latebind does not support.
[[nodiscard]] std::span<const std::string_view> refused_text_methods();

}  // namespace latebind::templates
