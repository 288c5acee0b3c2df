// A model as ONNX, for readers of that format: vendors, bundles, child processes. Pure function, for any thread.
#pragma once

#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// The model's own ONNX form, or one written now from its graph, with the weights left in place. kUnsupported, naming
// the existing formats, when it has neither.
[[nodiscard]] Result<ModelForm> onnx_form(const Model& model);

}  // namespace latebind::core
