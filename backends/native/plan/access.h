// The slots that a step reads and writes.
#pragma once

#include <vector>

#include "backends/native/plan/plan.h"

namespace latebind::native {

struct Access {
  // A row of the result depends on the same row of the slots read, and on no other row.
  bool by_rows = true;
  std::vector<Slot> reads{};
  std::vector<Slot> writes{};  // whole rows; the previous contents are lost unless the slot is read as well
};

[[nodiscard]] Access access_of(const Step& step);

}  // namespace latebind::native
