#include "embedding/inputs/question_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

constexpr std::string_view kQueryMark = "A: ";
constexpr std::string_view kDocumentMark = "B: ";
constexpr std::string_view kLine = "\n";
constexpr std::string_view kQuestion =
    "Given a query A and a passage B, determine whether the passage contains an answer to the query by providing a "
    "prediction of either 'Yes' or 'No'.";
constexpr std::size_t kTextTokensDefault = 512;
constexpr std::size_t kUnlimited = std::numeric_limits<std::int32_t>::max();

using Tokens = std::vector<std::int32_t>;

// Returns the tokens of the line and the question after the texts.
Result<Tokens> end_of(const Tokenizer& tokenizer, std::string_view question) {
  Tokens ids;
  LB_RETURN_IF_ERROR(tokenizer.encode(kLine, kUnlimited, ids));
  LB_RETURN_IF_ERROR(tokenizer.encode(question.empty() ? kQuestion : question, kUnlimited, ids));
  return ids;
}

// Appends at most `most` tokens of a text with its mark. Returns whether the text was cut.
Result<bool> append(const Tokenizer& tokenizer, std::string_view mark, std::string_view text, std::size_t most,
                    Tokens& ids) {
  const std::size_t begin = ids.size();
  LB_RETURN_IF_ERROR(tokenizer.encode(std::string(mark).append(text), most + 1, ids));
  const bool is_cut = ids.size() - begin > most;
  if (is_cut) ids.resize(begin + most);
  return is_cut;
}

}  // namespace

Result<std::size_t> QuestionFrame::default_tokens(const Tokenizer& tokenizer) const {
  LB_ASSIGN_OR_RETURN(const Tokens end, end_of(tokenizer, {}));
  return kTextTokensDefault + 2 * end.size();
}

// The reference counts the line and the question twice: a row may have that many tokens more than the texts.
Result<FramedRow> QuestionFrame::encode(const Tokenizer& tokenizer, std::string_view query, std::string_view document,
                                        std::string_view instruction, std::size_t max_tokens) const {
  LB_ASSIGN_OR_RETURN(const Tokens end, end_of(tokenizer, instruction));
  if (max_tokens <= 2 * end.size()) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("at most {} tokens leave no room for two texts beside the question, which takes {}; "
                              "take more",
                              max_tokens, 2 * end.size()));
  }
  const std::size_t length = max_tokens - 2 * end.size();
  FramedRow row;
  if (!begin_.empty()) {
    if (const auto id = tokenizer.id_of(begin_)) row.ids.push_back(*id);
  }
  LB_ASSIGN_OR_RETURN(const bool cuts_query, append(tokenizer, kQueryMark, query, length * 3 / 4, row.ids));
  Tokens second;
  LB_RETURN_IF_ERROR(tokenizer.encode(kLine, kUnlimited, second));
  LB_ASSIGN_OR_RETURN(const bool cuts_document, append(tokenizer, kDocumentMark, document, length, second));
  const std::size_t room = length + end.size() - std::min(row.ids.size(), length + end.size());
  row.is_cut = cuts_query || cuts_document || second.size() > room;
  second.resize(std::min(second.size(), room));
  row.ids.insert(row.ids.end(), second.begin(), second.end());
  row.ids.insert(row.ids.end(), end.begin(), end.end());
  return row;
}

}  // namespace latebind::embedding
