// The head of language models of which one or two tokens' numbers are the score: a row of the last matrix, or the
// difference of two, at the last token. Rerankers that are language models have it.
//
// Source: the ForCausalLM classes of transformers, and sentence-transformers' LogitScore. Values; reading is a pure
// function, for any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

struct TokenHead {
  // The last matrix, one row for each token. If the file lacks it, the word embeddings are used, if they may be.
  std::string matrix = "lm_head";
  bool may_be_words = false;
  // A number x becomes cap · tanh(x / cap).
  std::optional<float> soft_cap = std::nullopt;
  // The score is the number of the first token, less that of the second if there is one.
  std::uint32_t true_token = 0;
  std::optional<std::uint32_t> false_token = std::nullopt;
};

// Reads the head from config.json, except the tokens. Returns kInvalidModel or kUnsupported, naming the key.
using ReadTokenHead = core::Result<TokenHead>(const core::Json& config, const std::filesystem::path& file);
ReadTokenHead read_token_head;
ReadTokenHead read_gemma_token_head;  // its last matrix is the word embeddings, unless config.json says otherwise

}  // namespace latebind::embedding
