// From a Model to the vendor's network, with the requested static shapes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/model.h"

namespace latebind::openvino {

// The model itself, or, where it is a Graph, that graph as IR: written now, with the weights left in place, and with
// packed tokens where they may be and can. kIo, kOutOfMemory.
[[nodiscard]] core::Result<core::Model> readable_model(const core::Model& model, bool may_pack_tokens);

// The IR form is taken if there is one, else ONNX. Weights in memory are not copied: the network, and whatever is
// compiled from it, refers to them as long as it lives.
[[nodiscard]] core::Result<ModelHandle> read_model(const VendorCore& core, const core::Model& model);

// The weights that read_model() will refer to; empty for weights that the vendor reads from a file itself.
[[nodiscard]] std::span<const std::byte> weights_in_memory(const core::Model& model);

// One static shape for each input, by position; none leaves the network as it is.
[[nodiscard]] core::Status reshape(const Library& library, const ModelHandle& network,
                                   const std::vector<core::Shape>& shapes);

}  // namespace latebind::openvino
