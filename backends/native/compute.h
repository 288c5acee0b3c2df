// Computes a plan for a batch. Stateless: any thread may call it, with a batch and a crew that no other thread uses.
#pragma once

#include <cstddef>
#include <span>

#include "backends/native/batch.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/plan/plan.h"
#include "backends/native/team.h"
#include "core/backend/executable.h"
#include "core/result.h"

namespace latebind::native {

// Writes the plan's results to `out`: a vector for each text, or one for each token at its place in [texts,
// batch.padded, width], where padding is left unchanged. The crew divides the texts if there are many, and otherwise
// shares the work on each text. A vector depends neither on the other texts nor on the crew. Checks the limits between
// steps, and returns the errors of check_time(), or kDeviceFailed "hung: ..." after options.run_timeout. Throws
// std::bad_alloc.
[[nodiscard]] core::Status compute(const Kernels& kernels, const Plan& plan, Batch& batch, Team::Crew& crew,
                                   const core::RunOptions& options, std::span<float* const> out);

}  // namespace latebind::native
