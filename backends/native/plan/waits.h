// Where threads that share the steps of a plan must wait for each other.
#pragma once

#include "backends/native/plan/plan.h"

namespace latebind::native {

// Sets Step::waits. Threads share Multiply by columns, Attend by heads and texts, and everything else by rows: a step
// waits where it reads, or overwrites, what another thread may have written or read since the last wait.
void set_waits(Plan& plan);

}  // namespace latebind::native
