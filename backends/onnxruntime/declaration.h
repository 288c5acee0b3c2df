// The inputs and outputs that a session declares for its model. Callable from any thread.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/environment.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::onnxruntime {

struct Declared {
  core::TensorInfo info;
  // For each dimension, the model's name for it, or an empty string.
  std::vector<std::string> dimension_names;
};

struct Declaration {
  std::vector<Declared> inputs;
  std::vector<Declared> outputs;
};

// Returns kUnsupported, naming the input or output, for anything but a tensor, an element type that Latebind does not
// have, more dimensions than kRankMax, or an input whose rank is unknown.
[[nodiscard]] core::Result<Declaration> read_declaration(const Environment& environment, const abi::Session* session);

}  // namespace latebind::onnxruntime
