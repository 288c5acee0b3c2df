// Steps that move numbers. Pure functions, any thread.
#pragma once

#include <cstddef>

#include "backends/native/plan/plan.h"

namespace latebind::native {

// As the steps say, of rows of `width` numbers.
void take_columns(const TakeColumns& step, const Rows& x, std::size_t width, const MutableRows& y);
// Of the rows of one text.
void take_neighbours(const Neighbours& step, const Rows& x, std::size_t width, const MutableRows& y);

}  // namespace latebind::native
