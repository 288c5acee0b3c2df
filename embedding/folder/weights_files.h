// Finds the weights of a model's network in the hub's layout: model.safetensors, or the pieces that
// model.safetensors.index.json lists.
//
// The functions are pure except for reading that list; any thread may call them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

// The usual name of the list of pieces, and the limit of its size: some 80 bytes for each tensor.
inline constexpr std::string_view kWeightsIndexFile = "model.safetensors.index.json";
inline constexpr core::JsonLimits kWeightsIndexLimits{.bytes_max = std::size_t{16} << 20};

// Returns whether the folder has weights that PyTorch saved, in one file or in pieces. Latebind does not read them.
// `has` returns whether the folder has a file.
[[nodiscard]] bool has_pytorch_weights(const std::function<bool(std::string_view name)>& has);
// The command that converts such weights, for messages.
inline constexpr std::string_view kConvertPytorchWeights =
    "with torch and safetensors installed, type there: python3 -c \"import glob, torch; from safetensors.torch import "
    "save_file; save_file({k: v.clone().contiguous() for f in glob.glob('pytorch_model*.bin') for k, v in "
    "torch.load(f, "
    "map_location='cpu', weights_only=True).items()}, 'model.safetensors', {'format': 'pt'})\"";

// Returns the names of the weights files in the folder. Returns an empty list if it has no such weights, or if it has
// only the list of pieces and an ONNX file to replace them. `read_index` reads the list, and `index_name` names it in
// messages. Returns kNotFound for a missing piece, and kInvalidModel for a malformed list.
[[nodiscard]] core::Result<std::vector<std::string>> weights_file_names(
    const std::function<bool(std::string_view name)>& has,
    const std::function<core::Result<std::optional<core::Json>>()>& read_index, const std::string& index_name,
    bool has_onnx_file);

}  // namespace latebind::embedding
