// Reads the inputs and outputs that a model declares, from which the signature of a program is made. Any thread.
#pragma once

#include <vector>

#include "app/jobs/compile_input.h"
#include "app/runtime.h"
#include "core/model/model.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::app {

struct Declared {
  std::vector<core::TensorInfo> inputs;
  std::vector<core::TensorInfo> outputs;
};

// Whether the model is a graph of Latebind, which is known in full.
[[nodiscard]] inline bool is_built_here(const CompileInput& input) {
  return input.model.graph() != nullptr;
}

// What the model declares; a model that is not built here is loaded on a CPU. kUnsupported if it has an input that
// OpenVINO would drop.
[[nodiscard]] core::Result<Declared> declared_by(const CompileInput& input, const Runtime& runtime);

// What a CPU's runtime declares. `shapes` are those of the inputs, or empty.
[[nodiscard]] core::Result<Declared> ask_runtime(const core::Model& asked, const Runtime& runtime,
                                                 const std::vector<core::Shape>& shapes);

}  // namespace latebind::app
