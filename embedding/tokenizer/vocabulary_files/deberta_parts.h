// The parts of a tokenizer.json that transformers' DebertaV2Tokenizer rebuilds, regardless of the file's content.
//
// Source: transformers 5.24. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/json/value.h"
#include "embedding/tokenizer/json_document.h"

namespace latebind::embedding {

// Replaces normalizer, pre-tokenizer and decoder. `tokenizer_config` may be null; values other than true and false are
// ignored.
void make_deberta_parts(const core::Json* tokenizer_config, core::Json& root);

// Returns the index of the unknown token in the model: its entry with the score 0 in the vocabulary, which may be
// incomplete, or else the index that `tokenizer_config` gives.
[[nodiscard]] std::size_t deberta_unknown(const ModelLists& lists, std::string_view unknown,
                                          const core::Json* tokenizer_config);

}  // namespace latebind::embedding
