// ContextModel: the output of a provider's compiler. It is an ONNX model whose nodes are compiled contexts (operator
// EPContext), and possibly nodes that the provider has left to the CPU.
//
// A pure function over bytes from any source; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct ContextModel {
  std::size_t contexts = 0;  // compiled nodes
  core::LeftNodes others;    // other nodes
  bool embedded = true;      // all contexts are inside the model
  std::map<std::string, std::string> metadata;

  // The provider's compatibility string; empty if it gives none.
  [[nodiscard]] std::string compatibility(const std::string& provider) const;
};

// Returns kInvalidModel for anything but an ONNX model.
[[nodiscard]] core::Result<ContextModel> read_context_model(std::span<const std::byte> bytes);

}  // namespace latebind::onnxruntime
