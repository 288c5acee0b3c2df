// The names of a model's inputs and outputs, where a vendor names them otherwise.
//
// A vendor that leaves out a node which computes nothing joins the names of two tensors: the output of an ONNX model
// then has the name of a tensor inside. Callers find inputs and outputs by the model's names on every device.
#pragma once

#include <memory>

#include "core/executable.h"
#include "core/model.h"

namespace latebind::core {

// `loaded` itself where its names are those of `model`, where the model is not given as ONNX, and where the vendor has
// another number of inputs or outputs. Constant time once it runs.
[[nodiscard]] std::unique_ptr<Executable> with_names_of(const Model& model, std::unique_ptr<Executable> loaded);

}  // namespace latebind::core
