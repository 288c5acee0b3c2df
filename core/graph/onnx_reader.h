// What an existing ONNX file says about its inputs and outputs: its signature. Only the vendors read its network: a
// Graph is made from weights only.
//
// Source: onnx.proto. Reads a few fields and skips the rest by its length; every length is checked, nothing but names
// is copied. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::graph {

struct OnnxTensor {
  std::string name;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where dynamic
};

struct OnnxSignature {
  std::vector<OnnxTensor> outputs;
  // Those that a caller gives: old files list the weights among the inputs, too.
  std::vector<OnnxTensor> inputs;
};

// kInvalidModel when the bytes are not an ONNX model. `name` stands for the file.
[[nodiscard]] core::Result<OnnxSignature> read_onnx_signature(std::span<const std::byte> bytes, std::string_view name);

}  // namespace latebind::graph
