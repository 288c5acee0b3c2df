// The methods of texts, lists and dictionaries: value.name(arguments).
//
// Source: Python's str, list, tuple and dict, without what changes them, which transformers' sandbox refuses as well.
// Constant tables.
#pragma once

#include <string_view>

#include "core/template/run.h"

namespace latebind::templates {

// Returns null if values of this kind have no such method here.
[[nodiscard]] const Function* find_method(Kind kind, std::string_view name);
// Whether Python's values of this kind have an attribute with this name that is not known here.
[[nodiscard]] bool is_refused_attribute(Kind kind, std::string_view name);

}  // namespace latebind::templates
