// Gives a model as ONNX to readers of that format: vendors, bundles, child processes. Pure function, for any thread.
#pragma once

#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// Returns the model's own ONNX form, or writes one from its graph and leaves the weights in place. kUnsupported names
// the existing formats when the model has neither.
[[nodiscard]] Result<ModelForm> onnx_form(const Model& model);

}  // namespace latebind::core
