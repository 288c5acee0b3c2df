// Pipeline: the parts of an encoder, once the model is loaded: the tokenizer, the model, the scheduler, and their
// threads.
//
// Internal to the embedding layer: Encoder, EmbedStream and EmbedTask drive it. The Encoder owns it. Thread-safe after
// construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"
#include "core/threads/thread_pool.h"
#include "embedding/encoder.h"
#include "embedding/forward.h"
#include "embedding/inputs/input.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/inputs/token_table.h"
#include "embedding/schedule/scheduler.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// Returns the name of the text at a position, for errors.
using NameOf = std::function<std::string(std::uint64_t position)>;

class Pipeline {
 public:
  // `batch_tokens` and the longest length in `limits` are at least 1.
  Pipeline(Tokenizer tokenizer, Forward forward, TextLimits limits, std::size_t batch_tokens,
           Scheduler::OnBatch on_batch = {}, Prompts prompts = {});

  [[nodiscard]] const TokenLimits& limits(TextRole role = TextRole::kDocument) const { return limits_.of(role); }
  [[nodiscard]] const TextLimits& text_limits() const { return limits_; }
  [[nodiscard]] std::size_t batch_tokens() const { return batch_tokens_; }
  [[nodiscard]] const std::shared_ptr<const Tokenizer>& tokenizer() const { return tokenizer_; }
  [[nodiscard]] const Forward& forward() const { return forward_; }
  [[nodiscard]] const Prompts& prompts() const { return prompts_; }
  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

  // Returns the limits of a call with these options. Returns kInvalidArgument for more tokens than the encoder takes or
  // fewer than queries are filled up to, and the errors of Prompts::choose().
  [[nodiscard]] core::Result<TokenLimits> limits_of(const TextOptions& options) const;

  // The same for these inputs. Returns kInvalidArgument as well for options that token ids cannot have.
  [[nodiscard]] core::Result<TokenLimits> limits_of(const TextOptions& options, const InputList& list) const;

  // Tokenizes one text and appends it to `table`. An error names the text texts[position].
  [[nodiscard]] core::Status tokenize(std::string_view text, const TokenLimits& limits, std::uint64_t position,
                                      TokenTable& table) const;
  // Tokenizes all inputs, on several threads if that is faster, and appends them to `table`. Positions count from
  // `first_position`. Returns kDeadlineExceeded or kCancelled if `call` ends first. An error names an input by
  // `name_of`, or if that is empty, as texts[position] or pairs[position].
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
  core::ThreadPool team_;  // declared last, because its threads use all members above
};

}  // namespace latebind::embedding
