// The parts of a tokenizer.json that transformers' classes for SentencePiece models make, whatever a file contains:
// those of XLM-RoBERTa, CamemBERT, ALBERT, T5 and Llama.
//
// Source: transformers 5.24. Pure functions, any thread.
#pragma once

#include "core/json/value.h"

namespace latebind::embedding {

// The options in tokenizer_config.json.
struct SentencePieceOptions {
  bool add_prefix_space = true;
  // For ALBERT only.
  bool is_albert = false;
  bool keep_accents = false;
  bool do_lower_case = true;
};

// `map` is the part "Precompiled", or null.
[[nodiscard]] core::Json sentence_piece_normalizer(core::Json map, const SentencePieceOptions& options);
[[nodiscard]] core::Json sentence_piece_pre_tokenizer(const SentencePieceOptions& options);
[[nodiscard]] core::Json sentence_piece_decoder(const SentencePieceOptions& options);

// The first map of characters in a normalizer, which is what such a class keeps of it; or null.
[[nodiscard]] core::Json character_map_of(const core::Json& normalizer);

// Replaces the parts of a tokenizer.json by those of LlamaTokenizer: spaces are replaced by a pre-tokenizer that splits
// nothing, and the model has bytes and no unknown token. `tokenizer_config` may be null.
void make_llama_parts(const core::Json* tokenizer_config, core::Json& root);

}  // namespace latebind::embedding
