// Restores the names of a model's inputs and outputs if a vendor renamed them.
//
// A vendor that removes a node without effect merges the names of two tensors, and an output of an ONNX model may then
// have the name of an inner tensor. Callers find inputs and outputs by the model's names on every device. Pure
// function, for any thread.
#pragma once

#include <memory>

#include "core/backend/executable.h"
#include "core/model/model.h"

namespace latebind::core {

// Wraps `loaded` so that its inputs and outputs have the names of `model`. Returns `loaded` itself if the names are the
// same, if the model has no ONNX form, or if the vendor has another number of inputs or outputs. The wrapper adds
// constant time to a run.
[[nodiscard]] std::unique_ptr<Executable> with_names_of(const Model& model, std::unique_ptr<Executable> loaded);

}  // namespace latebind::core
