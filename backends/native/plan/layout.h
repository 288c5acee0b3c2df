// Places the slots of a plan in memory.
#pragma once

#include "backends/native/plan/plan.h"

namespace latebind::native {

// Sets Plan::layout of an otherwise complete plan.
void set_layout(Plan& plan);

}  // namespace latebind::native
