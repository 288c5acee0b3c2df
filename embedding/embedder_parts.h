// What an Embedder holds. Internal to the embedding layer.
#pragma once

#include <utility>

#include "embedding/cross_encoder_config.h"
#include "embedding/embedder.h"
#include "embedding/pipeline.h"

namespace latebind::embedding {

struct Embedder::Parts {
  Parts(Tokenizer tokenizer, Forward forward, TextLimits limits, std::size_t batch_tokens, Scheduler::OnBatch on_batch,
        Prompts prompts)
      : pipeline(std::move(tokenizer), std::move(forward), std::move(limits), batch_tokens, std::move(on_batch),
                 std::move(prompts)) {}

  Pipeline pipeline;
  std::vector<std::size_t> matryoshka_dimensions{};
  EncoderKind kind = EncoderKind::kEmbedder;
  CrossEncoderConfig scores{};
  bool compares_by_mean = false;
  // Of a router: its way for queries, while the pipeline is that for documents, and which of them texts take of which
  // nothing is said (ModelFolder). Without the former the pipeline is all that was opened, of `only`.
  std::string name{};
  std::unique_ptr<Embedder> queries{};
  TextRole by_default = TextRole::kUnsaid;
  TextRole only = TextRole::kUnsaid;
};

}  // namespace latebind::embedding
