// The steps that only move numbers. Pure functions; any thread may call them.
#pragma once

#include <cstddef>

#include "backends/native/plan/plan.h"

namespace latebind::native {

// Computes the step on rows of `width` numbers.
void take_columns(const TakeColumns& step, const Rows& x, std::size_t width, const MutableRows& y);
// Computes the step on the rows of one text, of `width` numbers each.
void take_neighbours(const Neighbours& step, const Rows& x, std::size_t width, const MutableRows& y);

}  // namespace latebind::native
