// TextLimits: how texts become ids, by the files of a model and by what the texts are to it.
//
// Values; pure functions, for any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/result.h"
#include "embedding/text_role.h"
#include "embedding/token_table.h"

namespace latebind::embedding {

struct ModelFolder;
struct Prompts;
struct TextOptions;

struct TextLimits {
  TokenLimits document{};
  std::optional<TokenLimits> query = std::nullopt;  // where that makes a difference

  TextLimits() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most models have one way.
  TextLimits(TokenLimits of_all) : document(std::move(of_all)) {}

  [[nodiscard]] std::size_t longest() const {
    return query ? std::max(document.max_tokens, query->max_tokens) : document.max_tokens;
  }
  [[nodiscard]] const TokenLimits& of(TextRole role) const {
    return role == TextRole::kQuery && query ? *query : document;
  }
  // Of a call with these options, whose max_tokens may be any number: kInvalidArgument for fewer than queries are
  // filled up to, and the errors of Prompts::choose().
  [[nodiscard]] core::Result<TokenLimits> of_call(const TextOptions& options, const Prompts& prompts) const;
};

// How many tokens texts may have: `wanted`, or with 0 what the folder says. The errors of ModelFolder::token_limit().
[[nodiscard]] core::Result<TextLimits> text_limits(const ModelFolder& folder, std::size_t wanted);

// The same for the tokenizer alone, of the folder: with set_roles().
[[nodiscard]] core::Result<TextLimits> text_limits(const ModelFolder& folder, const Tokenizer& tokenizer,
                                                   std::size_t wanted = 0);

// Of a multi-vector encoder: what is done with texts of each role, by the ids of the tokens that it is about. Of others
// nothing.
// kInvalidModel where its tokenizer lacks one.
[[nodiscard]] core::Status set_roles(const ModelFolder& folder, const Tokenizer& tokenizer, TextLimits& limits);

}  // namespace latebind::embedding
