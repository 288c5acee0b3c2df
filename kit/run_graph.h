// Runs an executable on a batch of arrays and returns what it gives.
#pragma once

#include <vector>

#include "core/backend/executable.h"
#include "core/status.h"
#include "core/tensor/tensor.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// One output of a run, copied. Shape and values are empty unless the status is ok.
struct Outcome {
  core::Status status;
  core::Shape shape;
  std::vector<float> values;
};

// Runs once. Inputs are taken by their names and converted to the executable's types (f32 or i64); outputs must be f32.
[[nodiscard]] std::vector<Outcome> run_all(core::Executable& executable, const Inputs& inputs,
                                           const core::RunOptions& options = {});

// For an executable with one output.
[[nodiscard]] Outcome run(core::Executable& executable, const Inputs& inputs, const core::RunOptions& options = {});

}  // namespace latebind::kit
