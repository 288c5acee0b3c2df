// The functions that a template can call: range, namespace, dict, raise_exception and strftime_now.
//
// Source: Jinja's globals, and those that transformers adds. A constant table.
#pragma once

#include <string_view>

#include "core/template/run.h"

namespace latebind::templates {

// Returns null for an unknown name.
[[nodiscard]] const Function* find_function(std::string_view name);
// Returns whether Jinja defines this global name and Latebind does not support it.
[[nodiscard]] bool is_refused_function(std::string_view name);

}  // namespace latebind::templates
