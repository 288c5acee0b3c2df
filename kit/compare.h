// How far a device's results may be from the reference, precision by precision. Pure functions.
//
// A network may amplify rounding: the reference computes it once more with each operator's numbers rounded as the
// precision rounds them (evaluate_all() with bits), and the distance that this makes is granted several times over.
// docs/conformance-kit.md has the bounds for people.
#pragma once

#include <string>

#include "core/config.h"
#include "core/graph/graph.h"
#include "core/result.h"
#include "kit/reference/array.h"

namespace latebind::kit {

struct Bound {
  // In f32, of each number, relative to the largest one; 0: only the average counts.
  double each = 0;
  // The root of the mean square, relative to that of the reference.
  double on_average = 0;
  // The significant bits that the precision keeps, for evaluate_all().
  int bits = 24;
};
[[nodiscard]] Bound bound_of(core::Precision precision);

// Compares all outputs of a graph with the reference. Numbers at padding are left out, and where the reference itself
// is not finite. kInternal says which number is wrong.
[[nodiscard]] core::Status compare(const graph::Graph& graph, const Inputs& inputs, const std::vector<Array>& found,
                                   core::Precision precision);

}  // namespace latebind::kit
