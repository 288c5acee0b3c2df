#include "embedding/inputs/chat_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/platform/local_time.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/python_text.h"
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

// Returns the first characters of a text, at most `most`, without the white space around them.
std::string_view stripped(std::string_view text, std::size_t most, std::string_view name, FramedRow& row) {
  const char* end = text.data();
  for (std::size_t i = 0; i < most && end != text.data() + text.size(); ++i)
    core::decode_utf8(end);
  if (end != text.data() + text.size()) {
    row.is_cut = true;
    row.excess = fmt::format("the {} text has more than the {} characters that the model reads", name, most);
  }
  const std::string_view head(text.data(), static_cast<std::size_t>(end - text.data()));
  return strip_python_spaces(head);
}

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
  const auto misses = [&](std::string_view role) {
    return refuse(fmt::format("the message with the role '{}' is not in its text", role));
  };
  if (*other_query == *base) return misses(frame->given_.query_role);
  const auto other_document = tried("alpha", "foxtrot");
  if (!other_document.ok()) return refuse(other_document.status().message());
  if (*other_document == *base) return misses(frame->given_.document_role);
  const auto begin_of = [&](const std::string& other) { return std::ranges::mismatch(*base, other).in1; };
  frame->ends_with_document_ = begin_of(*other_query) < begin_of(*other_document);
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
  messages.push_back(message(given_.query_role, query));
  messages.push_back(message(given_.document_role, document));
  templates::Variables variables = given_.variables;
  variables.emplace_back("messages", Value::sequence(std::move(messages)));
  return given_.source.render(variables, platform::local_time);
}

Result<FramedRow> ChatFrame::encode(const Tokenizer& tokenizer, std::string_view query, std::string_view document,
                                    std::string_view instruction, std::size_t max_tokens) const {
  if (!instruction.empty() && !given_.takes_instruction) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: the model takes no instruction: its template has only two texts", given_.file));
  }
  FramedRow row;
  if (given_.query_characters > 0) query = stripped(query, given_.query_characters, "first", row);
  if (given_.document_characters > 0) document = stripped(document, given_.document_characters, "second", row);
  LB_ASSIGN_OR_RETURN(const std::string whole, render(query, document, instruction));
  LB_RETURN_IF_ERROR(tokenizer.encode(whole, max_tokens + 1, row.ids));
  if (row.ids.size() < max_tokens) return row;
  const bool is_long = row.ids.size() > max_tokens;
  // The frame's last tokens replace the last tokens of the truncated row.
  row.ids.resize(max_tokens);
  LB_ASSIGN_OR_RETURN(const Tokens end, end_of(tokenizer, instruction));
  const std::size_t count = std::min(end->size(), max_tokens);
  std::copy_n(end->end() - static_cast<std::ptrdiff_t>(count), count,
              row.ids.end() - static_cast<std::ptrdiff_t>(count));
  if (!is_long) return row;
  row.is_cut = true;
  const std::size_t room = max_tokens - count;
  std::size_t before = room;
  if (room > 0) {
    LB_ASSIGN_OR_RETURN(before, tokens_before_last(tokenizer, query, document, instruction, room));
  }
  if (before < room) return row;
  const auto [last, first] = ends_with_document_ ? std::pair{"second", "first"} : std::pair{"first", "second"};
  row.lost = fmt::format(
      "at most {} tokens leave none of the {} text: the {} text, the instruction and the chat template take them all; "
      "take more, or shorten one of these",
      max_tokens, last, first);
  return row;
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

Result<std::size_t> ChatFrame::tokens_before_last(const Tokenizer& tokenizer, std::string_view query,
                                                  std::string_view document, std::string_view instruction,
                                                  std::size_t most) const {
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  for (const auto& [text, ids] : {std::pair{kShortText, &first}, std::pair{kLongText, &second}}) {
    LB_ASSIGN_OR_RETURN(const std::string whole,
                        ends_with_document_ ? render(query, text, instruction) : render(text, document, instruction));
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
