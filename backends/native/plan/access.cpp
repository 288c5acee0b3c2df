#include "backends/native/plan/access.h"

namespace latebind::native {

using graph::Cases;

namespace {

Access access_of(const ExpertMatrices& experts) {
  return {.by_rows = false, .reads = {experts.x, experts.shares}, .writes = {experts.y}};
}

}  // namespace

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
                          [](const TakeColumns& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const Neighbours& s) { return Access{.by_rows = false, .reads = {s.x}, .writes = {s.y}}; },
                          [](const Rope& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Convert& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const Multiply& s) { return Access{.by_rows = false, .reads = {s.x}, .writes = {s.y}}; },
                          [](const Norm& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const RmsNorm& s) { return Access{.reads = {s.x}, .writes = {s.y}}; },
                          [](const Activate& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Normalize& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Choose& s) { return Access{.reads = {s.x}, .writes = {s.x}}; },
                          [](const Convolve& s) { return Access{.by_rows = false, .reads = {s.x}, .writes = {s.y}}; },
                          [](const Widen& s) { return access_of(s.experts); },
                          [](const Narrow& s) { return access_of(s.experts); },
                          [](const Attend& s) {
                            return Access{.by_rows = false, .reads = {s.query, s.key, s.value}, .writes = {s.y}};
                          }},
                    step.what);
}

}  // namespace latebind::native
