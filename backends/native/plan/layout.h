// Layout of the slots of a plan.
#pragma once

#include "backends/native/plan/plan.h"

namespace latebind::native {

// Plan::layout, of a plan that has everything else.
void set_layout(Plan& plan);

}  // namespace latebind::native
