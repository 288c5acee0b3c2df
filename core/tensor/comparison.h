// Comparison of the outputs that two devices computed from the same inputs: how far apart they are, and how far apart
// they may be.
//
// Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <string>

#include "core/config.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::core {

// How far a device's output may differ from another's in a given precision. docs/verifying.md has the table and
// explains where the numbers come from.
struct AgreementBounds {
  double relative_most = 0;   // for floats: limit of Difference::relative
  double cosine_least = 0;    // for floats: limit of Difference::cosine
  double different_most = 0;  // for integers and booleans: the share of elements that may differ
};
[[nodiscard]] AgreementBounds agreement_bounds(Precision precision);

// How far one output is from the reference's output.
struct Difference {
  // Why the two outputs cannot be compared: "shape [2,3] instead of [2,4]". The other members then keep their initial
  // values.
  std::string mismatch{};
  std::size_t elements = 0;
  // For floats that are finite in both outputs: the largest difference; and that difference divided by the largest
  // number of the reference's output, so that numbers near zero do not count as infinitely wrong.
  double absolute = 0;
  double relative = 0;
  // For floats: the least cosine between corresponding items along the first dimension, or between the whole outputs if
  // their rank is 0 or 1. Items that are small compared with the largest number are left out; `relative` covers them.
  double cosine = 1;
  // For floats: the number of NaNs in this output and in the reference; and the number of elements that are not finite
  // in only one of them, or not finite in different ways.
  std::size_t nan_count = 0;
  std::size_t reference_nan_count = 0;
  std::size_t non_finite_apart = 0;
  // For integers and booleans: the number of elements that differ.
  std::size_t different = 0;
};

// Compares two contiguous tensors. If their types or shapes differ, the result has a mismatch.
[[nodiscard]] Difference difference(const TensorView& tested, const TensorView& reference);

// Adds `one` to `all`: the extremes become those of both, and the counts are summed.
void add_difference(Difference& all, const Difference& one);

[[nodiscard]] bool agrees(const Difference& difference, const AgreementBounds& bounds);

// Returns the first bound that is broken ("cosine 0.31, at least 0.9999 is expected"), or, if all hold, the measured
// values ("largest difference 2.1e-07 of the largest number, cosine 0.9999999").
[[nodiscard]] std::string text_of(const Difference& difference, const AgreementBounds& bounds);

}  // namespace latebind::core
