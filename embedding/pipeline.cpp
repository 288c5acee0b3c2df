#include "embedding/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

// Above this many bytes of text, sharing the work among threads costs less than it saves (about a millisecond's worth).
constexpr std::size_t kParallelTextBytes = std::size_t{32} << 10;

std::size_t bytes_of(std::string_view text) {
  return text.size();
}
std::size_t bytes_of(const TextPair& pair) {
  return pair.first.size() + pair.second.size();
}

std::string usual_name_of(std::string_view /*text*/, std::uint64_t position) {
  return fmt::format("texts[{}]", position);
}
std::string usual_name_of(const TextPair& /*pair*/, std::uint64_t position) {
  return fmt::format("pairs[{}]", position);
}

std::size_t requests_of(const Forward& forward) {
  return std::max<std::size_t>(1, forward.attestation()->active.requests);
}

}  // namespace

Pipeline::Pipeline(Tokenizer tokenizer, Forward forward, TextLimits limits, std::size_t batch_tokens,
                   Scheduler::OnBatch on_batch, Prompts prompts)
    : tokenizer_(std::make_shared<const Tokenizer>(std::move(tokenizer))),
      forward_(std::move(forward)),
      limits_(std::move(limits)),
      prompts_(std::move(prompts)),
      batch_tokens_(batch_tokens),
      requests_(requests_of(forward_)),
      scheduler_(forward_, team_, requests_, batch_tokens_, limits_.longest(), std::move(on_batch)),
      team_(requests_) {}

core::Result<TokenLimits> Pipeline::limits_of(const TextOptions& options) const {
  const std::size_t most = limits_.of(options.role).max_tokens;
  if (options.max_tokens > most) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("{} tokens of a text were asked for; the embedder was opened for {}", options.max_tokens, most));
  }
  LB_ASSIGN_OR_RETURN(TokenLimits limits, limits_.of_call(options, prompts_));
  if (prompts_.left_out && !limits.prompt.empty()) {
    LB_ASSIGN_OR_RETURN(limits.prompt_tokens, count_prompt_tokens(limits.prompt, *tokenizer_, limits.max_tokens));
  }
  return limits;
}

Status Pipeline::check_ids(const TextOptions& options) {
  if (!options.prompt.is_made() || options.prompt.text == "") return {};
  return Status(StatusCode::kInvalidArgument, "a prompt can be put before texts, not before token ids");
}

Status Pipeline::tokenize(std::string_view text, const TokenLimits& limits, std::uint64_t position,
                          TokenTable& table) const {
  Status status = table.add(*tokenizer_, limits, text);
  if (status.ok()) return status;
  return status.with_context(usual_name_of(text, position));
}

Status Pipeline::tokenize(std::span<const std::string_view> texts, const TokenLimits& limits,
                          std::uint64_t first_position, const core::RunOptions& call, TokenTable& table,
                          const NameOf& name_of) {
  return tokenize_all(texts, limits, first_position, call, table, name_of);
}

Status Pipeline::tokenize(std::span<const TextPair> pairs, const TokenLimits& limits, std::uint64_t first_position,
                          const core::RunOptions& call, TokenTable& table, const NameOf& name_of) {
  return tokenize_all(pairs, limits, first_position, call, table, name_of);
}

template <class Text>
Status Pipeline::tokenize_all(std::span<const Text> texts, const TokenLimits& limits, std::uint64_t first_position,
                              const core::RunOptions& call, TokenTable& table, const NameOf& name_of) {
  const auto tokenize_some = [&](std::size_t begin, std::size_t end, TokenTable& to) -> Status {
    for (std::size_t i = begin; i < end; ++i) {
      if (call.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(call));
      const Status status = to.add(*tokenizer_, limits, texts[i]);
      if (!status.ok()) {
        const std::uint64_t position = first_position + i;
        return status.with_context(name_of ? name_of(position) : usual_name_of(texts[i], position));
      }
    }
    return {};
  };
  std::size_t bytes = 0;
  for (const Text& text : texts)
    bytes += bytes_of(text);
  if (requests_ == 1 || texts.size() < 2 * requests_ || bytes < kParallelTextBytes) {
    return tokenize_some(0, texts.size(), table);
  }
  // In chunks, each into a table of its own.
  const std::size_t chunks = std::min(texts.size(), 4 * requests_);
  std::vector<TokenTable> tables(chunks);
  std::vector<Status> errors(chunks);
  team_.share(chunks, requests_ - 1, [&](std::size_t chunk) {
    try {
      errors[chunk] = tokenize_some(texts.size() * chunk / chunks, texts.size() * (chunk + 1) / chunks, tables[chunk]);
    } catch (...) {
      errors[chunk] = Status::of_exception().with_context("tokenizing the texts");
    }
  });
  for (const Status& error : errors)  // that of the first text that has one
    LB_RETURN_IF_ERROR(error);
  for (const TokenTable& part : tables)
    table.append(part);
  return {};
}

Status Pipeline::add_ids(std::span<const Embedder::Ids> texts, const TokenLimits& limits, std::uint64_t first_position,
                         TokenTable& table, const NameOf& name_of) const {
  TokenLimits known = limits;
  if (known.vocabulary_size == 0) known.vocabulary_size = tokenizer_->vocabulary_size();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Status status = table.add(texts[i], known);
    if (!status.ok()) {
      const std::uint64_t position = first_position + i;
      return status.with_context(name_of ? name_of(position) : usual_name_of(std::string_view(), position));
    }
  }
  return {};
}

}  // namespace latebind::embedding
