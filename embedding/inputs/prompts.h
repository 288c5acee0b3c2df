// Prompts: what is put before a model's texts, by the model's files and by a call.
//
// Source of the keys: config_sentence_transformers.json and the pooling's config.json (sentence-transformers). A value
// type; immutable in use.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/inputs/text_role.h"
#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {

// What a call wants before its texts: a text ("": nothing), one of the model's prompts, or, with neither, what the
// model says. Must live as long as the call that it is given to.
struct PromptChoice {
  std::optional<std::string_view> text{};
  std::optional<std::string_view> name{};

  [[nodiscard]] bool is_made() const { return text.has_value() || name.has_value(); }
};

// The longest one in a model's files that is taken.
inline constexpr std::size_t kPromptBytesMax = std::size_t{16} << 10;

struct Prompts {
  std::map<std::string, std::string, std::less<>> by_name{};
  // Before every text of a call that makes no choice; "": nothing.
  std::string by_default{};
  // The model's pooling leaves a prompt's tokens out.
  bool left_out = false;
  // Where it does, and that is not computed here: the file that says so.
  std::string excluded_by{};

  // The prompt of a call, perhaps "". Where it makes no choice, texts with a role have the prompt of that name
  // ("query"; "document", "passage" or "corpus", the first that there is), or none. kInvalidArgument for a name that
  // the model does not have, for two choices and for what is not UTF-8; kUnsupported for any prompt but "" where
  // `excluded_by` says so.
  [[nodiscard]] core::Result<std::string> choose(const PromptChoice& choice,
                                                 TextRole role = TextRole::kUnspecified) const;

 private:
  [[nodiscard]] std::string of(TextRole role) const;
};

// How many tokens at the front of a text are its prompt's where pooling leaves them out: those of the prompt alone,
// with the special ones around it, but for a last one that is special. The errors of Tokenizer::encode().
//
// Source: sentence-transformers' Transformer, which counts so however the prompt and the text are joined.
[[nodiscard]] core::Result<std::size_t> count_prompt_tokens(std::string_view prompt, const Tokenizer& tokenizer,
                                                            std::size_t max_tokens);

}  // namespace latebind::embedding
