// Prompts: the text before a model's texts, as the model's files and a call define it.
//
// Source of the keys: config_sentence_transformers.json and the pooling's config.json (sentence-transformers). A value;
// immutable in use.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/inputs/tasks.h"
#include "embedding/inputs/text_role.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// The prompt of a call: a text ("" for no prompt), the name of one of the model's prompts, or, with neither, the
// model's default. `task` names the task, for models that have several. The views must outlive the call that receives
// them.
struct PromptChoice {
  std::optional<std::string_view> text{};
  std::optional<std::string_view> name{};
  std::optional<std::string_view> task{};

  // Whether the prompt was chosen.
  [[nodiscard]] bool is_made() const { return text.has_value() || name.has_value(); }
};

// The longest prompt that is accepted from a model's files.
inline constexpr std::size_t kPromptBytesMax = std::size_t{16} << 10;

struct Prompts {
  std::map<std::string, std::string, std::less<>> by_name{};
  // The prompt of calls that make no choice; "" for no prompt.
  std::string by_default{};
  // The model's pooling leaves out a prompt's tokens.
  bool left_out = false;
  // The file that declares this, if it cannot be computed for this model; empty otherwise.
  std::string excluded_by{};
  TaskNames tasks{};

  // Returns the prompt of a call; it may be empty. Without a choice, texts with a task get the prompt with its name,
  // and otherwise texts with a role get the prompt with the name of that role ("query"; the first of "document",
  // "passage" and "corpus"), or "" if the model has no such prompt. Returns kInvalidArgument for a name that the model
  // does not have, for two choices and for invalid UTF-8; kUnsupported for a prompt other than "" if `excluded_by` is
  // set.
  [[nodiscard]] core::Result<std::string> choose(const PromptChoice& choice,
                                                 TextRole role = TextRole::kUnspecified) const;
  // Returns the task or the prompt for a purpose, "classification" or "clustering": the one with this name in any case,
  // or jina-embeddings-v3's "separation" for "clustering". Returns no choice if the model has neither. The views are of
  // this object.
  [[nodiscard]] PromptChoice for_purpose(std::string_view purpose) const;

 private:
  [[nodiscard]] std::string of(TextRole role) const;
};

// Returns the number of tokens at the front of a text that belong to the prompt if pooling leaves them out: the tokens
// of the prompt alone with its special tokens, without a special one at the end. Returns the errors of
// Tokenizer::encode().
//
// Source: sentence-transformers' Transformer, which counts them this way however the prompt and the text are joined.
[[nodiscard]] core::Result<std::size_t> count_prompt_tokens(std::string_view prompt, const Tokenizer& tokenizer,
                                                            std::size_t max_tokens);

}  // namespace latebind::embedding
