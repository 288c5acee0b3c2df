// Computes a plan for a batch.
#pragma once

#include <cstddef>

#include "backends/native/batch.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/plan/plan.h"
#include "backends/native/team.h"
#include "core/executable.h"
#include "core/result.h"

namespace latebind::native {

// Writes a vector for each text, or one for each token at its place in [texts, batch.padded, width], to `out`, whose
// padding is left alone. The crew divides the texts where there are many, else it shares the work on each. A vector
// does not depend on the texts beside it, nor on the crew. Looks at the limits between steps: the errors of
// check_time(), and kDeviceFailed "hung: ..." after options.run_timeout. Throws std::bad_alloc.
[[nodiscard]] core::Status compute(const Kernels& kernels, const Plan& plan, Batch& batch, Team::Crew& crew,
                                   const core::RunOptions& options, float* out);

}  // namespace latebind::native
