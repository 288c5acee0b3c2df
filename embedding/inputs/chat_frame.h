// ChatFrame: the text around a query and a document that a model's chat template makes of them.
//
// The two texts become messages with the roles "query" and "document", after one with the role "system" if there is an
// instruction. Source: sentence-transformers' Transformer and InputFormatter. Immutable after construction; any thread
// may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/template/template.h"

namespace latebind::embedding {

class Tokenizer;

struct ChatTemplate {
  templates::Template source;
  // A message's content is a list of parts, instead of a text.
  bool has_parts = false;
  // What the template knows besides the messages: special tokens, and what the model's files set.
  templates::Variables variables{};
  // If a row is cut, its last tokens are those of the frame after the texts.
  bool restores_end = true;
  std::string file{};  // for messages and descriptions
};

class ChatFrame {
 public:
  // Returns kUnsupported, naming the file, if the template does not render both texts: as in the reference, it is tried
  // with some.
  static core::Result<std::shared_ptr<const ChatFrame>> make(ChatTemplate given);

  // Returns the whole text of a row. The texts must be UTF-8; `instruction` is "" for none. Returns the errors of
  // Template::render().
  [[nodiscard]] core::Result<std::string> render(std::string_view query, std::string_view document,
                                                 std::string_view instruction) const;
  // Returns the tokens that the frame has after both texts. Empty if they cannot be told apart from the texts, or if
  // they are not restored.
  [[nodiscard]] core::Result<std::vector<std::int32_t>> end_of(const Tokenizer& tokenizer,
                                                               std::string_view instruction) const;
  [[nodiscard]] const std::string& file() const { return given_.file; }

 private:
  explicit ChatFrame(ChatTemplate given) : given_(std::move(given)) {}
  [[nodiscard]] templates::Value message(std::string_view role, std::string_view text) const;

  const ChatTemplate given_;
};

}  // namespace latebind::embedding
