#include "backends/native/plan/waits.h"

#include <algorithm>

namespace latebind::native {
namespace {

using graph::Cases;

struct Access {
  // By rows: each thread touches the same rows in every step, so that nothing is between them.
  bool by_rows = true;
  std::vector<Slot> reads{};   // whole rows of other threads where not by rows
  std::vector<Slot> writes{};  // the thread's own part
};

Access access_of(const Step& step) {
  return std::visit(Cases{[](const LookUp& s) { return Access{.reads = {}, .writes = {s.y}}; },
                          [](const AddTerms& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Copy& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const AddRows& s) {
                            return Access{.reads = {s.x, s.y}, .writes = {s.x}};
                          },
                          [](const MultiplyRows& s) {
                            return Access{.reads = {s.x, s.y}, .writes = {s.x}};
                          },
                          [](const Scale& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Turn& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Convert& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const Multiply& s) { return Access{.by_rows = false, .reads = {s.x}, .writes = {s.y}}; },
                          [](const Norm& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const RmsNorm& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const Activate& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Normalize& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Attend& s) {
                            return Access{.by_rows = false, .reads = {s.query, s.key, s.value}, .writes = {s.y}};
                          }},
                    step.what);
}

}  // namespace

void set_waits(Plan& plan) {
  // Since the last wait, by slot and by how they were shared.
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
