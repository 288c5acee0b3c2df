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
  float* scratch = nullptr;  // scratch_of() numbers
};

// The size of the scratch memory of a step for texts of at most `longest` tokens, in numbers.
[[nodiscard]] std::size_t scratch_of(const Plan& plan, const Step& step, std::size_t longest);

// See Choose. `experts` is the width of a row.
void choose(const MutableRows& shares, std::size_t experts, std::size_t chosen);
// The rows of all tokens of the group; see ExpertMatrices.
struct ExpertRows {
  Rows x;
  Rows shares;
  MutableRows y;
};
// See Widen and Narrow.
void widen(const ExpertRun& run, const Widen& step, const ExpertRows& rows);
void narrow(const ExpertRun& run, const Narrow& step, const ExpertRows& rows);

// See Convolve, for the rows of `range`. Rows are those of all tokens of the group; `places` has the position of each
// in its text.
void convolve(const Convolve& step, std::size_t columns, const Rows& x, const std::uint32_t* places, const Range& range,
              const MutableRows& y);

}  // namespace latebind::native
