// Makes the vendor's network from a Model, with the requested static shapes. Functions may be called from any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/openvino/vendor_core.h"
#include "core/model/model.h"

namespace latebind::openvino {

// The model itself or, if it is a Graph, that graph as IR, with the weights left in place, and with packed tokens if
// `may_pack_tokens` and the graph allow it. Returns kIo or kOutOfMemory.
[[nodiscard]] core::Result<core::Model> readable_model(const core::Model& model, bool may_pack_tokens,
                                                       bool keeps_types = false);

// Reads the IR form if there is one, and otherwise ONNX. Weights in memory are not copied: the network and all models
// compiled from it refer to them.
[[nodiscard]] core::Result<ModelHandle> read_model(const VendorCore& core, const core::Model& model);

// The weights in memory that read_model() refers to; empty if the vendor reads the weights from a file itself.
[[nodiscard]] std::span<const std::byte> weights_in_memory(const core::Model& model);

// Sets one static shape for each input, by position. An empty list leaves the network unchanged.
[[nodiscard]] core::Status reshape(const Library& library, const ModelHandle& network,
                                   const std::vector<core::Shape>& shapes);

}  // namespace latebind::openvino
