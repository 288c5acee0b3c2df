// The keys of sentence_bert_config.json, all of which are arguments of sentence-transformers' Transformer.
//
// Source: sentence-transformers 6.2. Other files read those that give numbers (lengths, the expansion of queries, the
// task); this one checks what else a file may ask for.
#pragma once

#include <string_view>

#include "core/status.h"
#include "embedding/folder/config_files.h"

namespace latebind::embedding {

// What the model does with the network, on which the meaning of some keys depends.
struct TransformerUse {
  bool takes_logits = false;  // from a head
  std::string_view module_output_name = "token_embeddings";
  bool has_roles = false;  // queries and documents may have different lengths
};

// Keys that have no effect, and those that say what is done anyway, pass. kUnsupported or kInvalidModel for all others,
// and for a key that the reference does not know, naming the file and the key.
[[nodiscard]] core::Status check_transformer_keys(const ConfigFile& of_transformer, const TransformerUse& use);

}  // namespace latebind::embedding
