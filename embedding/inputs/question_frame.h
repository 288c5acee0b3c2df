// QuestionFrame: two texts with a letter before each, and a question about them after both: "A: …", "B: …", "Given a
// query A and a passage B, …".
//
// The parts are tokenized one by one, and lines are between them. The query is cut to three quarters of the length, and
// the document to what remains. Source: FlagEmbedding's FlagLLMReranker. Immutable; any thread may use it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/inputs/pair_frame.h"

namespace latebind::embedding {

class QuestionFrame final : public PairFrame {
 public:
  // `begin` is the token before every row, "" for none; `file` is the file that declares the frame.
  QuestionFrame(std::string begin, std::string file) : begin_(std::move(begin)), file_(std::move(file)) {}

  // Returns the limit of a row that corresponds to the reference's default length.
  [[nodiscard]] core::Result<std::size_t> default_tokens(const Tokenizer& tokenizer) const;
  // An instruction takes the place of the question.
  [[nodiscard]] core::Result<FramedRow> encode(const Tokenizer& tokenizer, std::string_view query,
                                               std::string_view document, std::string_view instruction,
                                               std::size_t max_tokens) const override;
  [[nodiscard]] const std::string& file() const override { return file_; }

 private:
  const std::string begin_;
  const std::string file_;
};

}  // namespace latebind::embedding
