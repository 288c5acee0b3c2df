#include "embedding/inputs/chat_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/platform/local_time.h"
#include "embedding/inputs/token_table.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;
using templates::Value;

namespace {

// Sample texts. The positions at which their rendered rows differ are those of the texts.
constexpr std::string_view kShortText = "0";
constexpr std::string_view kLongText = "1 2 3 4";

}  // namespace

Result<std::shared_ptr<const ChatFrame>> ChatFrame::make(ChatTemplate given) {
  std::shared_ptr<ChatFrame> frame(new ChatFrame(std::move(given)));
  const auto refuse = [&](std::string_view why) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: the chat template cannot carry a query and a document: {}", frame->file(), why));
  };
  const auto tried = [&](std::string_view query, std::string_view document) {
    return frame->render(query, document, {});
  };
  const auto base = tried("alpha", "bravo");
  if (!base.ok()) return refuse(base.status().message());
  const auto other_query = tried("charlie", "bravo");
  if (!other_query.ok()) return refuse(other_query.status().message());
  if (*other_query == *base) return refuse("the message with the role 'query' is not in its text");
  const auto other_document = tried("alpha", "foxtrot");
  if (!other_document.ok()) return refuse(other_document.status().message());
  if (*other_document == *base) return refuse("the message with the role 'document' is not in its text");
  const auto begin_of = [&](const std::string& other) { return std::ranges::mismatch(*base, other).in1; };
  frame->ends_with_second_ = begin_of(*other_query) < begin_of(*other_document);
  return std::shared_ptr<const ChatFrame>(std::move(frame));
}

Value ChatFrame::message(std::string_view role, std::string_view text) const {
  Value content = Value::text(std::string(text));
  if (given_.has_parts) {
    Value part = Value::dictionary({{Value::text("type"), Value::text("text")}, {Value::text("text"), content}});
    content = Value::sequence({std::move(part)});
  }
  return Value::dictionary(
      {{Value::text("role"), Value::text(std::string(role))}, {Value::text("content"), std::move(content)}});
}

Result<std::string> ChatFrame::render(std::string_view query, std::string_view document,
                                      std::string_view instruction) const {
  templates::Items messages;
  if (!instruction.empty()) messages.push_back(message("system", instruction));
  messages.push_back(message("query", query));
  messages.push_back(message("document", document));
  templates::Variables variables = given_.variables;
  variables.emplace_back("messages", Value::sequence(std::move(messages)));
  return given_.source.render(variables, platform::local_time);
}

Result<ChatFrame::Tokens> ChatFrame::end_of(const Tokenizer& tokenizer, std::string_view instruction) const {
  {
    const core::MutexLock lock(mutex_);
    if (end_ != nullptr && instruction_ == instruction) return end_;
  }
  LB_ASSIGN_OR_RETURN(auto found, find_end(tokenizer, instruction));
  Tokens end = std::make_shared<const std::vector<std::int32_t>>(std::move(found));
  const core::MutexLock lock(mutex_);
  instruction_ = instruction;
  end_ = end;
  return end;
}

Result<std::size_t> ChatFrame::tokens_before_last(const Tokenizer& tokenizer, const TextPair& pair,
                                                  std::string_view instruction, std::size_t most) const {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  for (const auto& [text, ids] : {std::pair{kShortText, &first}, std::pair{kLongText, &second}}) {
    LB_ASSIGN_OR_RETURN(const std::string whole, ends_with_second_ ? render(pair.first, text, instruction)
                                                                   : render(text, pair.second, instruction));
    LB_RETURN_IF_ERROR(tokenizer.encode(whole, most, *ids));
  }
  return static_cast<std::size_t>(std::ranges::mismatch(first, second).in1 - first.begin());
}

Result<std::vector<std::int32_t>> ChatFrame::find_end(const Tokenizer& tokenizer, std::string_view instruction) const {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  if (!given_.restores_end) return first;
  for (const auto& [text, ids] : {std::pair{kShortText, &first}, std::pair{kLongText, &second}}) {
    LB_ASSIGN_OR_RETURN(const std::string whole, render(text, text, instruction));
    LB_RETURN_IF_ERROR(tokenizer.encode(whole, std::numeric_limits<std::int32_t>::max(), *ids));
  }
  const auto begin = std::ranges::mismatch(first.rbegin(), first.rend(), second.rbegin(), second.rend()).in1;
  const auto count = static_cast<std::size_t>(begin - first.rbegin());
  if (count == std::min(first.size(), second.size())) return std::vector<std::int32_t>();
  first.erase(first.begin(), first.end() - static_cast<std::ptrdiff_t>(count));
  return first;
}

}  // namespace latebind::embedding
