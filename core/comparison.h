// Comparison of what two devices computed from the same inputs: how far apart outputs are, and how far they may be.
//
// Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/config.h"
#include "core/result.h"
#include "core/tensor.h"

namespace latebind::core {

// How far a device's output may be from another's, by the precision that it computes in. docs/verifying.md has the
// table, and where the numbers come from.
struct AgreementBounds {
  double relative_most = 0;   // of floats: Difference::relative
  double cosine_least = 0;    // of floats: Difference::cosine
  double different_most = 0;  // of integers and booleans: the share of elements that are not equal
};
[[nodiscard]] AgreementBounds agreement_bounds(Precision precision);

// How far one output is from the reference's.
struct Difference {
  // What cannot be compared: "shape [2,3] instead of [2,4]". All else is then as it was before.
  std::string mismatch{};
  std::size_t elements = 0;
  // Of floats, where both are finite: the largest difference; and divided by the largest number of the reference's
  // output, so that numbers near zero do not count as infinitely wrong.
  double absolute = 0;
  double relative = 0;
  // Of floats: the least cosine between the items along the first dimension, or, of rank 0 or 1, of all of it. Items
  // that are small beside the largest number are left out: for them `relative` says enough.
  double cosine = 1;
  // Of floats: how many are NaN here and in the reference; and how many are not finite in one of them alone, or not in
  // the same way.
  std::size_t nan_count = 0;
  std::size_t reference_nan_count = 0;
  std::size_t non_finite_apart = 0;
  // Of integers and booleans: how many are not equal.
  std::size_t different = 0;
};

// Both contiguous. Types and shapes may differ: that is a mismatch.
[[nodiscard]] Difference difference(const TensorView& tested, const TensorView& reference);

// `all` becomes that of both together: the largest, the least, the sums.
void add_difference(Difference& all, const Difference& one);

[[nodiscard]] bool agrees(const Difference& difference, const AgreementBounds& bounds);

// The first bound that does not hold, "cosine 0.31, at least 0.9999 is expected"; else what was found, "largest
// difference 2.1e-07 of the largest number, cosine 0.9999999".
[[nodiscard]] std::string text_of(const Difference& difference, const AgreementBounds& bounds);

}  // namespace latebind::core
