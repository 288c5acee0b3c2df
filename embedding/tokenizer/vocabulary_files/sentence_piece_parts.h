// The parts of a tokenizer.json that transformers' classes for SentencePiece's models make: those of XLM-RoBERTa,
// CamemBERT and ALBERT, whatever a file has there.
//
// Source: transformers 5.24. Pure functions, any thread.
#pragma once

#include "core/json.h"

namespace latebind::embedding {

// What tokenizer_config.json says of them.
struct SentencePieceOptions {
  bool add_prefix_space = true;
  // Of ALBERT's alone.
  bool is_albert = false;
  bool keep_accents = false;
  bool do_lower_case = true;
};

// `map`: the part "Precompiled", or null.
[[nodiscard]] nlohmann::json sentence_piece_normalizer(nlohmann::json map, const SentencePieceOptions& options);
[[nodiscard]] nlohmann::json sentence_piece_pre_tokenizer(const SentencePieceOptions& options);
[[nodiscard]] nlohmann::json sentence_piece_decoder(const SentencePieceOptions& options);

// The first map of characters of a normalizer, or null: what such a class keeps of the one in a file.
[[nodiscard]] nlohmann::json character_map_of(const nlohmann::json& normalizer);

}  // namespace latebind::embedding
