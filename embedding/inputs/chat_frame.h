// ChatFrame: joins a query and a document to one text with the model's chat template.
//
// The two texts become messages with the roles "query" and "document", after one with the role "system" if there is an
// instruction. Source: sentence-transformers' Transformer and InputFormatter. Any thread may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/template/template.h"
#include "core/threads/mutex.h"
#include "embedding/inputs/pair_frame.h"

namespace latebind::embedding {

struct ChatTemplate {
  templates::Template source;
  // If true, the content of a message is a list of parts instead of a text.
  bool has_parts = false;
  // The variables of the template besides the messages: special tokens, and settings in the model's files.
  templates::Variables variables{};
  // If a row is truncated, its last tokens are replaced by those of the frame after the texts.
  bool restores_end = true;
  std::string file{};  // for messages and descriptions
  // The roles of the messages with the two texts.
  std::string query_role = "query";
  std::string document_role = "document";
  // The number of characters that are read of each text, without the white space around them; 0 for all, as they are.
  std::size_t query_characters = 0;
  std::size_t document_characters = 0;
  bool takes_instruction = true;
};

class ChatFrame final : public PairFrame {
 public:
  // Renders sample texts, as the reference does. Returns kUnsupported, naming the file, if the result lacks one of
  // them.
  static core::Result<std::shared_ptr<const ChatFrame>> make(ChatTemplate given);

  // Returns the whole text of a row. The texts must be UTF-8; `instruction` is "" for no instruction. Returns the
  // errors of Template::render().
  [[nodiscard]] core::Result<std::string> render(std::string_view query, std::string_view document,
                                                 std::string_view instruction) const;
  // Returns the tokens of the frame after both texts. Empty if they cannot be distinguished from the texts, or if
  // `restores_end` is false. Keeps the tokens of the last instruction, so every call must have the same tokenizer.
  using Tokens = std::shared_ptr<const std::vector<std::int32_t>>;
  [[nodiscard]] core::Result<Tokens> end_of(const Tokenizer& tokenizer, std::string_view instruction) const
      LB_EXCLUDES(mutex_);
  [[nodiscard]] core::Result<FramedRow> encode(const Tokenizer& tokenizer, std::string_view query,
                                               std::string_view document, std::string_view instruction,
                                               std::size_t max_tokens) const override;
  [[nodiscard]] const std::string& file() const override { return given_.file; }

 private:
  explicit ChatFrame(ChatTemplate given) : given_(std::move(given)) {}
  [[nodiscard]] templates::Value message(std::string_view role, std::string_view text) const;
  [[nodiscard]] core::Result<std::vector<std::int32_t>> find_end(const Tokenizer& tokenizer,
                                                                 std::string_view instruction) const;
  // Returns the number of tokens before the text that comes last, counted up to `most`.
  [[nodiscard]] core::Result<std::size_t> tokens_before_last(const Tokenizer& tokenizer, std::string_view query,
                                                             std::string_view document, std::string_view instruction,
                                                             std::size_t most) const;

  const ChatTemplate given_;
  bool ends_with_document_ = true;  // constant after make()

  mutable core::Mutex mutex_;
  mutable std::string instruction_ LB_GUARDED_BY(mutex_);  // of end_
  mutable Tokens end_ LB_GUARDED_BY(mutex_);               // null before the first call of end_of()
};

}  // namespace latebind::embedding
