// Finds the weights of a model's network in the hub's layout: model.safetensors, or the pieces that
// model.safetensors.index.json lists; or else pytorch_model.bin, or its pieces; or else GGUF.
//
// The functions are pure except for reading those lists; any thread may call them.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

class ModelFiles;

// The usual name of the list of pieces, and the limit of its size: some 80 bytes for each tensor.
inline constexpr std::string_view kWeightsIndexFile = "model.safetensors.index.json";
inline constexpr core::JsonLimits kWeightsIndexLimits{.bytes_max = std::size_t{16} << 20};
// The same as PyTorch saves them.
inline constexpr std::string_view kTorchFile = "pytorch_model.bin";
inline constexpr std::string_view kTorchIndexFile = "pytorch_model.bin.index.json";
// The path of a GGUF model's weights among its files (gguf/gguf_model.h).
inline constexpr std::string_view kGgufFile = "model.gguf";
// The files beside the weights of WordEmbeddings: the module's configuration, and the list of words.
inline constexpr std::string_view kWordEmbeddingsFile = "wordembedding_config.json";
inline constexpr std::string_view kWordListFile = "whitespacetokenizer_config.json";
// The list of the pieces of split GGUF, which is generated.
inline constexpr std::string_view kGgufIndexFile = "model.gguf.index.json";
// All formats of weights, for messages about a folder without them.
inline constexpr std::string_view kFormsOfWeights = "model.safetensors, pytorch_model.bin or onnx/model.onnx";

// Returns whether a folder has a file of this name.
using HasFile = std::function<bool(std::string_view name)>;

// Returns the name of the weights if they are in one file: model.safetensors, else pytorch_model.bin, else
// model.gguf. Empty if the folder has none.
[[nodiscard]] std::string_view single_weights_file(const HasFile& has);
// Returns the path of that file, or that of model.safetensors if the folder has none.
[[nodiscard]] std::filesystem::path single_weights_file(const ModelFiles& files, const std::filesystem::path& folder);
// Returns whether the folder has weights, in one file or as a list of pieces.
[[nodiscard]] bool has_weights_files(const HasFile& has);

struct WeightsNames {
  std::vector<std::string> files{};  // empty if there are none
  std::string index{};               // the list of pieces; empty for one file
};
// The folder of the weights.
struct WeightsFolder {
  HasFile has;
  // Reads a list of pieces.
  std::function<core::Result<std::optional<core::Json>>(std::string_view name)> read_index;
  // Returns the name of a file for messages.
  std::function<std::string(std::string_view name)> shown;
};
// Returns the names of the weights' files in the first format that the folder has, in this order: model.safetensors,
// its pieces, pytorch_model.bin, its pieces, model.gguf, its pieces. If `has_onnx_file`, incomplete pieces are ignored.
// Returns kNotFound for a missing piece, and kInvalidModel for a malformed list.
[[nodiscard]] core::Result<WeightsNames> weights_file_names(const WeightsFolder& folder, bool has_onnx_file);

}  // namespace latebind::embedding
