// What a session says about its model's inputs and outputs.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "core/result.h"
#include "core/tensor.h"

namespace latebind::onnxruntime {

struct Declared {
  core::TensorInfo info;
  // For each dimension the name that the model gives it, or empty.
  std::vector<std::string> dimension_names;
};

struct Declaration {
  std::vector<Declared> inputs;
  std::vector<Declared> outputs;
};

// kUnsupported, naming it, for anything but a tensor, an element type that Latebind does not have, more dimensions than
// kRankMax, or an input whose number of dimensions is unknown.
[[nodiscard]] core::Result<Declaration> read_declaration(const Environment& environment, const abi::Session* session);

}  // namespace latebind::onnxruntime
