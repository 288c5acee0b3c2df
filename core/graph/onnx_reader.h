// Reads the signature of an existing ONNX file: what it declares about its inputs and outputs. Only vendors read its
// network, because Latebind makes a Graph only from weights.
//
// Source: onnx.proto. It reads a few fields and skips the rest by its length. Every length is checked, and only names
// are copied. Pure functions, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor/tensor.h"

namespace latebind::graph {

// What a model declares about an input, an output or a tensor between nodes.
struct DeclaredTensor {
  std::optional<core::ElementType> type{};
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where unknown
};

// Reads a ValueInfoProto. std::nullopt when it is damaged or has more dimensions than any operator takes.
[[nodiscard]] std::optional<DeclaredTensor> read_value_info(std::span<const std::byte> value_info);

struct OnnxTensor {
  std::string name;
  bool has_shape = false;
  std::vector<std::int64_t> shape{};  // -1 where dynamic
};

struct OnnxSignature {
  std::vector<OnnxTensor> outputs;
  // The inputs that a caller gives. Old files list the weights among the inputs, too; those are left out.
  std::vector<OnnxTensor> inputs;
};

// Returns kInvalidModel when the bytes are not an ONNX model. `name` is the file's name for messages.
[[nodiscard]] core::Result<OnnxSignature> read_onnx_signature(std::span<const std::byte> bytes, std::string_view name);

}  // namespace latebind::graph
