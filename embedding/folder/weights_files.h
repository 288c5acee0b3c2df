// Where a model's folder has the weights of its network, in the words of the hub's layout: model.safetensors, or the
// pieces that model.safetensors.index.json lists.
//
// A pure function but for reading that list; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_text.h"
#include "core/result.h"

namespace latebind::embedding {

// The usual name of a list of pieces, and how much of it is read: some 80 bytes for each tensor.
inline constexpr std::string_view kWeightsIndexFile = "model.safetensors.index.json";
inline constexpr core::JsonLimits kWeightsIndexLimits{.bytes_max = std::size_t{16} << 20};

// Weights that PyTorch saved, in one file or in pieces, which are not read. `has`: whether the folder has this file.
[[nodiscard]] bool has_pytorch_weights(const std::function<bool(std::string_view name)>& has);
// What to type in that folder to get weights that are read, for messages.
inline constexpr std::string_view kConvertPytorchWeights =
    "with torch and safetensors installed, type there: python3 -c \"import glob, torch; from safetensors.torch import "
    "save_file; save_file({k: v.clone().contiguous() for f in glob.glob('pytorch_model*.bin') for k, v in "
    "torch.load(f, "
    "map_location='cpu', weights_only=True).items()}, 'model.safetensors', {'format': 'pt'})\"";

// The names of those files in the folder; none where it has no such weights, or only the list of them and an ONNX file
// to serve instead. `read_index` gives the list of pieces, `index_name` stands for it in messages. kNotFound for a
// piece that is missing, kInvalidModel for a list that is none.
[[nodiscard]] core::Result<std::vector<std::string>> weights_file_names(
    const std::function<bool(std::string_view name)>& has,
    const std::function<core::Result<std::optional<nlohmann::json>>()>& read_index, const std::string& index_name,
    bool has_onnx_file);

}  // namespace latebind::embedding
