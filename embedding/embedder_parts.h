// What an Embedder holds. Internal to the embedding layer.
#pragma once

#include <utility>

#include "embedding/embedder.h"
#include "embedding/pipeline.h"

namespace latebind::embedding {

struct Embedder::Parts {
  Parts(Tokenizer tokenizer, Forward forward, TokenLimits limits, std::size_t batch_tokens)
      : pipeline(std::move(tokenizer), std::move(forward), limits, batch_tokens) {}

  Pipeline pipeline;
};

}  // namespace latebind::embedding
