#include "embedding/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace latebind::embedding {

using core::Status;
using core::StatusCode;

namespace {

// From this many bytes of text, sharing the work among threads saves more than it costs (about a millisecond of work).
constexpr std::size_t kParallelTextBytes = std::size_t{32} << 10;

std::size_t bytes_of(std::string_view text) {
  return text.size();
}
std::size_t bytes_of(const TextPair& pair) {
  return pair.first.size() + pair.second.size();
}
std::size_t bytes_of(Ids /*ids*/) {
  return 0;
}

const Input& input_of(std::string_view /*text*/) {
  return kTextInput;
}
const Input& input_of(const TextPair& /*pair*/) {
  return kPairInput;
}
const Input& input_of(Ids /*ids*/) {
  return kTextInput;
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

core::Result<TokenLimits> Pipeline::limits_of(const TextOptions& options, const InputList& list) const {
  const bool are_ids = std::holds_alternative<std::span<const Ids>>(list);
  if (are_ids && options.prompt.is_made() && options.prompt.text != "") {
    return Status(StatusCode::kInvalidArgument, "a prompt can be put before texts, not before token ids");
  }
  return limits_of(options);
}

Status Pipeline::tokenize(std::string_view text, const TokenLimits& limits, std::uint64_t position,
                          TokenTable& table) const {
  Status status = table.add(*tokenizer_, limits, text);
  if (status.ok()) return status;
  return status.with_context(fmt::format("{}[{}]", kTextInput.list, position));
}

Status Pipeline::tokenize(const InputList& list, const TokenLimits& limits, std::uint64_t first_position,
                          const core::RunOptions& call, TokenTable& table, const NameOf& name_of) {
  return std::visit(
      [&](const auto& items) { return tokenize_all(items, limits, first_position, call, table, name_of); }, list);
}

template <class Item>
Status Pipeline::tokenize_all(std::span<const Item> items, const TokenLimits& limits, std::uint64_t first_position,
                              const core::RunOptions& call, TokenTable& table, const NameOf& name_of) {
  const auto tokenize_some = [&](std::size_t begin, std::size_t end, TokenTable& to) -> Status {
    for (std::size_t i = begin; i < end; ++i) {
      if (call.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(call));
      const Status status = to.add(*tokenizer_, limits, items[i]);
      if (!status.ok()) {
        const std::uint64_t position = first_position + i;
        return status.with_context(name_of ? name_of(position)
                                           : fmt::format("{}[{}]", input_of(items[i]).list, position));
      }
    }
    return {};
  };
  std::size_t bytes = 0;
  for (const Item& item : items)
    bytes += bytes_of(item);
  if (requests_ == 1 || items.size() < 2 * requests_ || bytes < kParallelTextBytes) {
    return tokenize_some(0, items.size(), table);
  }
  // Each chunk is tokenized into a separate table.
  const std::size_t chunks = std::min(items.size(), 4 * requests_);
  std::vector<TokenTable> tables(chunks);
  std::vector<Status> errors(chunks);
  team_.share(chunks, requests_ - 1, [&](std::size_t chunk) {
    try {
      errors[chunk] = tokenize_some(items.size() * chunk / chunks, items.size() * (chunk + 1) / chunks, tables[chunk]);
    } catch (...) {
      errors[chunk] = Status::of_exception().with_context("tokenizing the texts");
    }
  });
  for (const Status& error : errors)  // the error of the first failing input wins
    LB_RETURN_IF_ERROR(error);
  for (const TokenTable& part : tables)
    table.append(part);
  return {};
}

}  // namespace latebind::embedding
