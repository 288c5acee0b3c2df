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

namespace latebind::embedding {

class Tokenizer;
struct TextPair;

struct ChatTemplate {
  templates::Template source;
  // If true, the content of a message is a list of parts instead of a text.
  bool has_parts = false;
  // The variables of the template besides the messages: special tokens, and settings in the model's files.
  templates::Variables variables{};
  // If a row is truncated, its last tokens are replaced by those of the frame after the texts.
  bool restores_end = true;
  std::string file{};  // for messages and descriptions
};

class ChatFrame {
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
  // Returns whether the document follows the query.
  [[nodiscard]] bool ends_with_second() const { return ends_with_second_; }
  // Returns the number of tokens before the text that comes last, counted up to `most`.
  [[nodiscard]] core::Result<std::size_t> tokens_before_last(const Tokenizer& tokenizer, const TextPair& pair,
                                                             std::string_view instruction, std::size_t most) const;
  [[nodiscard]] const std::string& file() const { return given_.file; }

 private:
  explicit ChatFrame(ChatTemplate given) : given_(std::move(given)) {}
  [[nodiscard]] templates::Value message(std::string_view role, std::string_view text) const;
  [[nodiscard]] core::Result<std::vector<std::int32_t>> find_end(const Tokenizer& tokenizer,
                                                                 std::string_view instruction) const;

  const ChatTemplate given_;
  bool ends_with_second_ = true;  // constant after make()

  mutable core::Mutex mutex_;
  mutable std::string instruction_ LB_GUARDED_BY(mutex_);  // of end_
  mutable Tokens end_ LB_GUARDED_BY(mutex_);               // null before the first call of end_of()
};

}  // namespace latebind::embedding
