// The tokens that a model folder's files name for their roles, with or without a tokenizer.json.
//
// Source: transformers 5.24. Pure functions, any thread.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/vocabulary_files/default_tokens.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

// The tokens that a class of this kind uses if no file names them.
[[nodiscard]] std::span<const DefaultToken> default_tokens(TokenizerClass::Kind kind);

// Sets the flags of tokens that files give as plain texts to those that a class of this kind uses.
void give_flags_of_class(TokenizerClass::Kind kind, SpecialTokens& tokens);

// The text of the token with this role, from the files beside any tokenizer, with or without a tokenizer.json, or else
// from the class that tokenizer_config.json names; empty if neither has one. kInvalidModel names the key.
[[nodiscard]] core::Result<std::string> named_token(const std::optional<core::Json>& tokenizer_config,
                                                    const std::optional<core::Json>& special_tokens_map,
                                                    SpecialTokens::Role role);

}  // namespace latebind::embedding
