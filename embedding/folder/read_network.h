// Reads the network of a model folder. Pure functions of the files; any thread may call them.
#pragma once

#include "core/result.h"
#include "embedding/folder/network_spec.h"
#include "embedding/outputs/output.h"

namespace latebind::embedding {

// Reads the network that config.json describes and the names of its weights files, or what config.json declares about
// the network of an ONNX file. `head` is the head that the model's output needs, or null. Returns kInvalidModel or
// kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<NetworkSpec> read_network(const Declaration& given, const HeadKind* head);

// Checks that sentence_bert_config.json names the task that the output needs. Returns kUnsupported if it does not.
[[nodiscard]] core::Status check_task(const ConfigFile& of_transformer, const Modules& modules, const HeadKind* head);

}  // namespace latebind::embedding
