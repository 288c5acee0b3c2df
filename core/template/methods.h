// The methods of texts, lists and dictionaries: value.name(arguments).
//
// Source: Python's str, list, tuple and dict, without the methods that modify them, which transformers' sandbox refuses
// as well. The tables are constant.
#pragma once

#include <string_view>

#include "core/template/run.h"

namespace latebind::templates {

// Returns null if values of this kind have no such method here.
[[nodiscard]] const Function* find_method(Kind kind, std::string_view name);
// Returns whether Python's type has an attribute with this name that Latebind does not support.
[[nodiscard]] bool is_refused_attribute(Kind kind, std::string_view name);

}  // namespace latebind::templates
