// Attributes that filters name in a text: "function.name". A pure function of a run.
#pragma once

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Returns the value of a path of attributes and indices, which are separated by dots; undefined if there is none.
[[nodiscard]] core::Result<Value> attribute_of(Run& run, const Value& object, const Value& path);

}  // namespace latebind::templates
