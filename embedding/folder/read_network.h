// The network of a model folder.
#pragma once

#include "core/result.h"
#include "embedding/folder/network_spec.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

// Reads the network that config.json describes and the names of its weights, or what config.json says about the network
// of an ONNX file. `head` is what the model's output needs; null: none. kInvalidModel or kUnsupported, naming the file
// and the key.
[[nodiscard]] core::Result<NetworkSpec> read_network(const Declaration& given, const HeadKind* head);

// Checks that sentence_bert_config.json names the task that the output needs. kUnsupported.
[[nodiscard]] core::Status check_task(const ConfigFile& of_transformer, const Modules& modules, const HeadKind* head);

}  // namespace latebind::embedding
