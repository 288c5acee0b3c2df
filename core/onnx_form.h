// A model as ONNX, for those who read that: vendors, bundles, child processes. Pure function, for any thread.
#pragma once

#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// The form that it has, or one that is written now from its graph, with the weights where they are. kUnsupported,
// naming the formats that there are, when it has neither.
[[nodiscard]] Result<ModelForm> onnx_form(const Model& model);

}  // namespace latebind::core
