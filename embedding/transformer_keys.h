// The keys of sentence_bert_config.json, all of which are arguments of sentence-transformers' Transformer. Internal to
// ModelFolder.
//
// Source: sentence-transformers 6.2. Those that give numbers (lengths, the expansion of queries, the task) are read
// elsewhere; here is what else a file may ask for.
#pragma once

#include "core/status.h"
#include "embedding/encoder_kind.h"

namespace latebind::embedding {

// What such a file may ask for of a network by itself.
struct TransformerUse {
  EncoderKind kind = EncoderKind::kEmbedder;
  // It ends in a head, and no module follows.
  bool only_network = false;
};

// Keys that have no effect, and those that say what is done anyway, pass. kUnsupported or kInvalidModel for all others,
// and for a key that the reference does not know, naming the file and the key.
[[nodiscard]] core::Status check_transformer_keys(const ConfigFile& of_transformer, const TransformerUse& use);

}  // namespace latebind::embedding
