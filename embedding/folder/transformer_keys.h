// Checks the keys of sentence_bert_config.json, which are arguments of sentence-transformers' Transformer.
//
// Source: sentence-transformers 6.2. Other files read the keys that give numbers (lengths, the expansion of queries,
// the task); this one checks the remaining keys. Pure functions; any thread may call them.
#pragma once

#include <string_view>

#include "core/json/value.h"
#include "core/status.h"
#include "embedding/folder/config_files.h"

namespace latebind::embedding {

// The name of a pooler's output in transformers.
inline constexpr std::string_view kPoolerOutput = "pooler_output";

// The use of the network, on which the meaning of some keys depends.
struct TransformerUse {
  bool takes_logits = false;  // the model takes the numbers of a head
  bool takes_pooler = false;  // the model takes the output of the network's pooler
  std::string_view module_output_name = "token_embeddings";
  bool has_roles = false;       // queries and documents may have different lengths
  bool takes_messages = false;  // a chat template may join the texts
};

// Returns whether sentence_bert_config.json declares the pooler's output to be the vector of a text.
[[nodiscard]] bool asks_for_pooler(const core::Json& config);

// Accepts keys without effect, and keys that request the default. Returns kUnsupported or kInvalidModel for all others,
// and for keys that the reference does not know, naming the file and the key.
[[nodiscard]] core::Status check_transformer_keys(const ConfigFile& of_transformer, const TransformerUse& use);

}  // namespace latebind::embedding
