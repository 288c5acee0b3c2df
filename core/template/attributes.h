// Resolves the attribute paths that filters take as text, such as "function.name". Call it from the thread of the run.
#pragma once

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Returns the value at `path`, which has attributes and indices separated by dots; undefined if there is no such value.
[[nodiscard]] core::Result<Value> attribute_of(Run& run, const Value& object, const Value& path);

}  // namespace latebind::templates
