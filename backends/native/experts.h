// Experts: the steps of graph::Experts, and graph::ShortConvolution, on the tokens of a group.
//
// Internal to compute(). Each function computes one member's part of a step; members compute different columns, or
// rows, and may do so at once. Nothing is allocated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/native/groups.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/plan/plan.h"
#include "backends/native/run_limits.h"

namespace latebind::native {

// What a step of experts computes with.
struct ExpertRun {
  const Kernels& kernels;
  const Plan& plan;
  Limits& limits;
  std::size_t member = 0;
  std::size_t members = 1;
  float* scratch = nullptr;  // expert_scratch() numbers
};

// The size of the scratch memory for these matrices, in numbers.
[[nodiscard]] std::size_t expert_scratch(const Plan& plan, const ExpertMatrices& experts);

// See Choose. `experts` is the width of a row.
void choose(const MutableRows& shares, std::size_t experts, std::size_t chosen);
// See Widen and Narrow. Rows are those of all tokens of the group.
void widen(const ExpertRun& run, const Widen& step, const Rows& x, const Rows& shares, const MutableRows& y);
void narrow(const ExpertRun& run, const Narrow& step, const Rows& x, const Rows& shares, const MutableRows& y);

// See Convolve, for the rows of `range`. Rows are those of all tokens of the group; `places` has the position of each
// in its text.
void convolve(const Convolve& step, std::size_t columns, const Rows& x, const std::uint32_t* places, const Range& range,
              const MutableRows& y);

}  // namespace latebind::native
