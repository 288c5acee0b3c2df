// TextLimits: how texts become ids, by a model's files and by the texts' role.
//
// Values; pure functions, safe for concurrent use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/result.h"
#include "embedding/inputs/text_role.h"
#include "embedding/inputs/token_table.h"

namespace latebind::embedding {

struct Specification;
struct Prompts;
struct TextOptions;

struct TextLimits {
  TokenLimits document{};
  std::optional<TokenLimits> query = std::nullopt;  // where queries are treated differently

  TextLimits() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most models treat all texts alike.
  TextLimits(TokenLimits of_all) : document(std::move(of_all)) {}

  [[nodiscard]] std::size_t longest() const {
    return query ? std::max(document.max_tokens, query->max_tokens) : document.max_tokens;
  }
  [[nodiscard]] const TokenLimits& of(TextRole role) const {
    return role == TextRole::kQuery && query ? *query : document;
  }
  // The limits of a call with these options, whose max_tokens may be any number. kInvalidArgument for fewer tokens than
  // queries are filled up to; the errors of Prompts::choose().
  [[nodiscard]] core::Result<TokenLimits> of_call(const TextOptions& options, const Prompts& prompts) const;
};

// How many tokens texts may have: `wanted`, or with 0 what the model says. The errors of Specification::token_limit().
[[nodiscard]] core::Result<TextLimits> text_limits(const Specification& model, std::size_t wanted);

// The same with set_roles(), for users of the tokenizer alone.
[[nodiscard]] core::Result<TextLimits> text_limits(const Specification& model, const Tokenizer& tokenizer,
                                                   std::size_t wanted = 0);

// Adds what the model does with texts of each role, by the ids of the tokens concerned; nothing where it treats all
// texts alike. kInvalidModel where its tokenizer lacks one of the tokens.
[[nodiscard]] core::Status set_roles(const Specification& model, const Tokenizer& tokenizer, TextLimits& limits);

}  // namespace latebind::embedding
