// The parts of a tokenizer.json that transformers' DebertaV2Tokenizer makes, whatever a file contains.
//
// Source: transformers 5.24. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/json/value.h"
#include "embedding/tokenizer/json_document.h"

namespace latebind::embedding {

// Replaces normalizer, pre-tokenizer and decoder. `tokenizer_config` may be null; only true and false count in it.
void make_deberta_parts(const core::Json* tokenizer_config, core::Json& root);

// The place of the unknown token in the model: where the vocabulary, which need not be finished, has it with the score
// 0, or else what `tokenizer_config` says.
[[nodiscard]] std::size_t deberta_unknown(const ModelLists& lists, std::string_view unknown,
                                          const core::Json* tokenizer_config);

}  // namespace latebind::embedding
