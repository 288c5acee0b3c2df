// The head of rerankers that are language models. The score is the logit of one token at the last position, or the
// difference of the logits of two tokens; only their rows of the last matrix are read.
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
  // The last matrix, with a row for each token of the vocabulary. If the file lacks it and `may_be_words` is true, the
  // word embeddings are used.
  std::string matrix = "lm_head";
  bool may_be_words = false;
  // A logit x becomes cap · tanh(x / cap).
  std::optional<float> soft_cap = std::nullopt;
  // The score is the logit of `true_token`, minus that of `false_token` if it is set.
  std::uint32_t true_token = 0;
  std::optional<std::uint32_t> false_token = std::nullopt;
};

// Reads the head, except the tokens, from config.json. Returns kInvalidModel or kUnsupported, naming the key.
using ReadTokenHead = core::Result<TokenHead>(const core::Json& config, const std::filesystem::path& file);
ReadTokenHead read_token_head;
ReadTokenHead read_gemma_token_head;   // its last matrix is the word embeddings, unless config.json says otherwise
ReadTokenHead read_gemma2_token_head;  // likewise, with a soft cap of 30

}  // namespace latebind::embedding
