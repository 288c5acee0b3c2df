// Decides at which steps the threads that share a plan must wait for each other.
#pragma once

#include "backends/native/plan/plan.h"

namespace latebind::native {

// Sets Step::waits. Threads divide Multiply by columns, Attend by heads and texts, Neighbours by texts, and all other
// steps by rows. A step waits if it reads what another thread may have written since the last wait, or overwrites what
// another thread may have read or written.
void set_waits(Plan& plan);

}  // namespace latebind::native
