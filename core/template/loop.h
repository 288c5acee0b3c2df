// The attributes of the variable `loop`. For one thread.
#pragma once

#include <string_view>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Returns the attribute. Returns undefined for previtem at the first item, nextitem at the last one, and unknown names.
[[nodiscard]] core::Result<Value> loop_attribute(LoopState& loop, std::string_view name);

}  // namespace latebind::templates
