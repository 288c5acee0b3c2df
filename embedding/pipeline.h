// Pipeline: the parts of an encoder, once the model is loaded: tokenizer, model, scheduler, and the threads of both.
//
// Internal to the embedding layer: Encoder, EmbedStream and EmbedTask are three ways to drive it. Thread-safe after
// construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"
#include "embedding/encoder.h"
#include "embedding/forward.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/inputs/token_table.h"
#include "embedding/scheduler.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/work_team.h"

namespace latebind::embedding {

// What the text at a position is called in an error.
using NameOf = std::function<std::string(std::uint64_t position)>;

class Pipeline {
 public:
  // `batch_tokens` and the most tokens at least 1.
  Pipeline(Tokenizer tokenizer, Forward forward, TextLimits limits, std::size_t batch_tokens,
           Scheduler::OnBatch on_batch = {}, Prompts prompts = {});

  [[nodiscard]] const TokenLimits& limits(TextRole role = TextRole::kDocument) const { return limits_.of(role); }
  [[nodiscard]] const TextLimits& text_limits() const { return limits_; }
  [[nodiscard]] std::size_t batch_tokens() const { return batch_tokens_; }
  [[nodiscard]] const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }
  [[nodiscard]] const Forward& forward() const { return forward_; }
  [[nodiscard]] const Prompts& prompts() const { return prompts_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

  // The limits of a call with these options. kInvalidArgument for more tokens than the encoder takes, or fewer than
  // queries are filled up to; the errors of Prompts::choose().
  [[nodiscard]] core::Result<TokenLimits> limits_of(const TextOptions& options) const;

  // The same for these inputs: kInvalidArgument for options that token ids cannot have.
  [[nodiscard]] core::Result<TokenLimits> limits_of(const TextOptions& options, const InputList& list) const;

  // Appends one text; an error names it texts[position].
  [[nodiscard]] core::Status tokenize(std::string_view text, const TokenLimits& limits, std::uint64_t position,
                                      TokenTable& table) const;
  // Appends all inputs, on several threads where that pays. Positions count from `first_position`. Ends at the call's
  // deadline or when it is cancelled. An error names an input as `name_of` does; without it texts[position], or
  // pairs[position] for pairs.
  [[nodiscard]] core::Status tokenize(const InputList& list, const TokenLimits& limits, std::uint64_t first_position,
                                      const core::RunOptions& call, TokenTable& table, const NameOf& name_of = {});

 private:
  template <class Item>
  core::Status tokenize_all(std::span<const Item> items, const TokenLimits& limits, std::uint64_t first_position,
                            const core::RunOptions& call, TokenTable& table, const NameOf& name_of);

  const std::shared_ptr<const Tokenizer> tokenizer_;
  Forward forward_;
  const TextLimits limits_;
  const Prompts prompts_;
  const std::size_t batch_tokens_;
  const std::size_t requests_;

  Scheduler scheduler_;
  WorkTeam team_;  // last: its threads use all of the above
};

}  // namespace latebind::embedding
