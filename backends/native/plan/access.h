// Which slots a step reads and writes.
#pragma once

#include <vector>

#include "backends/native/plan/plan.h"

namespace latebind::native {

struct Access {
  // By rows: a row of what is written needs the same row alone of what is read.
  bool by_rows = true;
  std::vector<Slot> reads{};
  std::vector<Slot> writes{};  // whole rows; what is there before is lost where the slot is not read, too
};

[[nodiscard]] Access access_of(const Step& step);

}  // namespace latebind::native
