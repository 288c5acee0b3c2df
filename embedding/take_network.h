// The network of a model folder. Internal to ModelFolder.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "core/status.h"
#include "embedding/encoder_kind.h"
#include "embedding/modules.h"

namespace latebind::embedding {

struct ModelFolder;

// The network of StaticEmbedding, which its weights describe.
[[nodiscard]] core::Status take_static(const Modules& modules, ModelFolder& model);

// The network that config.json describes, with its weights, or what it says of the one in an ONNX file. kInvalidModel
// or kUnsupported, naming the file and the key.
[[nodiscard]] core::Status take_network(const nlohmann::json& config, const std::filesystem::path& config_file,
                                        const Modules& modules, bool is_onnx_asked_for, ModelFolder& model);

// What the network of the modules is for, in sentence-transformers' words, must be what its kind needs.
[[nodiscard]] core::Status check_task(const ConfigFile& of_transformer, const Modules& modules,
                                      const ModelFolder& model);

}  // namespace latebind::embedding
