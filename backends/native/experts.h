// Experts: the steps of graph::Experts and graph::ShortConvolution on all tokens of a group.
//
// Internal to compute(). Each function computes one member's part of a step. Members compute different columns or rows
// and may run concurrently. The functions allocate no memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/native/groups.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/plan/plan.h"
#include "backends/native/run_limits.h"

namespace latebind::native {

// The context of a step of experts, for one member.
struct ExpertRun {
  const Kernels& kernels;
  const Plan& plan;
  Limits& limits;
  std::size_t member = 0;
  std::size_t members = 1;
  float* scratch = nullptr;  // scratch_of() numbers
};

// Returns how many floats of scratch memory a step needs for texts of at most `longest` tokens.
[[nodiscard]] std::size_t scratch_of(const Plan& plan, const Step& step, std::size_t longest);

// Computes the step Choose on rows of `experts` numbers.
void choose(const MutableRows& shares, std::size_t experts, std::size_t chosen);
// The rows of all tokens of the group; see ExpertMatrices.
struct ExpertRows {
  Rows x;
  Rows shares;
  MutableRows y;
};
// Compute the steps Widen and Narrow.
void widen(const ExpertRun& run, const Widen& step, const ExpertRows& rows);
void narrow(const ExpertRun& run, const Narrow& step, const ExpertRows& rows);

// Computes the step Convolve for the rows of `range`. `x` and `y` have the rows of all tokens of the group; `places`
// has each token's position in its text.
void convolve(const Convolve& step, std::size_t columns, const Rows& x, const std::uint32_t* places, const Range& range,
              const MutableRows& y);

}  // namespace latebind::native
