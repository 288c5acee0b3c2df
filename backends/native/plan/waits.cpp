#include "backends/native/plan/waits.h"

#include <algorithm>

#include "backends/native/plan/access.h"

namespace latebind::native {
void set_waits(Plan& plan) {
  // Accesses since the last wait, by slot and by how the threads divided the step.
  struct Touched {
    bool read_by_rows = false;
    bool read_otherwise = false;
    bool written_by_rows = false;
    bool written_otherwise = false;
  };
  std::vector<Touched> touched(plan.widths.size());
  for (Step& step : plan.steps) {
    const Access access = access_of(step);
    const auto collides_read = [&](Slot slot) {
      const Touched& t = touched[slot];
      return access.by_rows ? t.written_otherwise : t.written_by_rows || t.written_otherwise;
    };
    const auto collides_write = [&](Slot slot) {
      const Touched& t = touched[slot];
      const bool otherwise = t.read_otherwise || t.written_otherwise;
      return access.by_rows ? otherwise : otherwise || t.read_by_rows || t.written_by_rows;
    };
    step.waits = std::ranges::any_of(access.reads, collides_read) || std::ranges::any_of(access.writes, collides_write);
    if (step.waits) std::ranges::fill(touched, Touched{});
    for (const Slot slot : access.reads)
      (access.by_rows ? touched[slot].read_by_rows : touched[slot].read_otherwise) = true;
    for (const Slot slot : access.writes)
      (access.by_rows ? touched[slot].written_by_rows : touched[slot].written_otherwise) = true;
  }
}

}  // namespace latebind::native
