// The output of a provider's compiler: an ONNX model whose nodes are compiled contexts (operator EPContext), and
// whatever nodes the provider has left to the CPU.
//
// A pure function over bytes that may come from anywhere; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "core/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct ContextModel {
  std::size_t contexts = 0;  // nodes that are compiled
  core::LeftNodes others;    // nodes that are not
  bool embedded = true;      // no context is in another file
  std::map<std::string, std::string> metadata;

  // The provider's own compatibility string; empty when it gives none.
  [[nodiscard]] std::string compatibility(const std::string& provider) const;
};

// kInvalidModel for anything but an ONNX model.
[[nodiscard]] core::Result<ContextModel> read_context_model(std::span<const std::byte> bytes);

}  // namespace latebind::onnxruntime
