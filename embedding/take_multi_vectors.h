// What makes a multi-vector encoder of a model folder that has been read otherwise. Internal to ModelFolder.
#pragma once

#include <cstddef>
#include <optional>

#include "core/json.h"
#include "core/status.h"
#include "embedding/encoder_kind.h"
#include "embedding/modules.h"

namespace latebind::embedding {

struct ModelFolder;

struct MultiVectorFiles {
  const Modules& modules;
  const ConfigFile& own;             // config_sentence_transformers.json
  const ConfigFile& of_transformer;  // sentence_bert_config.json
  const std::optional<nlohmann::json>& tokenizer_config;
  std::size_t positions = 0;  // that the network has
};

// Reads what its files say of queries and documents, within what the network takes. kInvalidModel or kUnsupported,
// naming the file and the key.
[[nodiscard]] core::Status take_multi_vectors(const MultiVectorFiles& given, ModelFolder& model);

}  // namespace latebind::embedding
